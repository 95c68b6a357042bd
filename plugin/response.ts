import { isRestError, messageOf, RestError, type RestErrorDetails } from "./error.ts";
import { parseRetryAfter } from "./retry.ts";

/** What an error about an answer tells about its request. */
export interface Exchange {
  method: string;
  url: string;
}

type BodyKind = "json" | "text" | "binary";

/**
 * The body of an answer, parsed by its content type: JSON (`application/json`, `text/json`, `+json`), text (`text/*`,
 * XML and the like, in the charset that the type names), or else bytes. Null when it is empty.
 *
 * @param maxBytes - after decompression
 * @throws RestError `response_too_large`, or `invalid_response` for broken JSON
 */
export async function parseBody(response: Response, exchange: Exchange, maxBytes: number): Promise<unknown> {
  if (response.body === null || response.status === 204 || response.status === 205) return null;
  const type = response.headers.get("content-type") ?? "";
  const kind = kindOf(type);
  if (kind === "json" && fits(response, maxBytes)) {
    const text = await response.text();
    return text === "" ? null : parseJson(text, response, exchange);
  }
  const bytes = await readBytes(response, exchange, maxBytes);
  if (bytes.length === 0) return null;
  if (kind === "binary") return bytes;
  const text = decoderFor(type).decode(bytes);
  return kind === "json" ? parseJson(text, response, exchange) : text;
}

/** Pieces of a body as they arrive; the connection is let go of when the reader stops early. */
export async function* pieces(response: Response): AsyncGenerator<Uint8Array, void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  let complete = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      complete = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!complete) await reader.cancel().catch(() => {});
  }
}

/** Length of the body by its header, when that is the length of what is read; otherwise null. */
export function plainLength(response: Response): number | null {
  if (response.headers.has("content-encoding")) return null;
  const length = response.headers.get("content-length");
  return length !== null && /^\d{1,15}$/.test(length) ? Number(length) : null;
}

/** The error for a status other than 2xx. A body that cannot be read does not hide the status. */
export async function httpError(
  response: Response,
  exchange: Exchange,
  maxBytes: number,
): Promise<RestError> {
  const { status, headers } = response;
  const body = await parseBody(response, exchange, maxBytes).catch((error: unknown) =>
    isRestError(error) ? error.body : null,
  );
  const retryAfter = status === 429 || status === 503 ? parseRetryAfter(headers.get("retry-after")) : null;
  const message = `${exchange.method} ${exchange.url} failed: HTTP ${status}${meaningOf(status, retryAfter)}`;
  return new RestError("http", message, { ...detailsOf(response, exchange), body, retryAfter });
}

export function detailsOf(response: Response, exchange: Exchange): RestErrorDetails {
  return { status: response.status, headers: response.headers, ...exchange };
}

/**
 * Whether a body is known to be under the limit before it is read. Only where the plugin knows how the runtime shows
 * compressed answers: a browser may hide the encoding and show the compressed length.
 */
function fits(response: Response, maxBytes: number): boolean {
  const length = globalThis.process?.versions?.node ? plainLength(response) : null;
  return length !== null && length <= maxBytes;
}

async function readBytes(response: Response, exchange: Exchange, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces(response)) {
    size += piece.length;
    if (size > maxBytes) {
      throw new RestError(
        "response_too_large",
        `${exchange.method} ${exchange.url} answered HTTP ${response.status} with a body over maxResponseBytes (${maxBytes})`,
        detailsOf(response, exchange),
      );
    }
    parts.push(piece);
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

function parseJson(text: string, response: Response, exchange: Exchange): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RestError(
      "invalid_response",
      `${exchange.method} ${exchange.url} answered HTTP ${response.status} with broken JSON: ${messageOf(error)}`,
      { ...detailsOf(response, exchange), body: text, cause: error },
    );
  }
}

function meaningOf(status: number, retryAfter: number | null): string {
  const when = retryAfter === null ? "with exponential backoff" : `after ${retryAfter} seconds`;
  if (status === 401) return " (authentication failed)";
  if (status === 429) return ` (rate limit exceeded; retry ${when})`;
  return status >= 500 ? " (server error)" : "";
}

function kindOf(contentType: string): BodyKind {
  if (contentType === "application/json") return "json";
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (/^(?:application|text)\/json$|\+json$/.test(type)) return "json";
  return /^text\/|\+(?:xml|yaml)$|^application\/(?:xml|yaml|x-ndjson|jsonl|javascript|graphql|sql|toml|x-www-form-urlencoded)$/.test(
    type,
  )
    ? "text"
    : "binary";
}

function decoderFor(contentType: string): TextDecoder {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(contentType)?.[1];
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
