import { isRestError, messageOf, type RequestLine, RestError, type RestErrorDetails } from "./error.ts";
import { parseRetryAfter } from "./retry.ts";

/**
 * Reads a body and parses it by its content type: JSON (`application/json`, `text/json`, `+json`), text (`text/*`, XML
 * and similar types, in the declared charset), otherwise bytes. An empty body gives null.
 *
 * @param maxBytes - limit after decompression
 * @throws RestError `response_too_large`, or `invalid_response` for invalid JSON
 */
export async function parseBody(response: Response, line: RequestLine, maxBytes: number): Promise<unknown> {
  const { headers } = response;
  const contentType = headers.get("content-type") ?? "";
  const kind = kindOf(contentType);
  const length = kind === "json" ? declaredLength(headers) : null;
  if (length !== null && length <= maxBytes) {
    // Deno takes a third of the time of reading chunks.
    const text = await response.text();
    // A browser may hide that the declared length counts compressed bytes.
    if (text.length > maxBytes) throw tooLarge(response, line, maxBytes);
    return parseJson(text, response, line);
  }
  const bytes = await readBytes(response, line, maxBytes);
  // JSON is UTF-8, whatever charset is declared (RFC 8259, 8.1).
  if (kind === "json") return parseJson(utf8.decode(bytes), response, line);
  if (bytes.length === 0) return null;
  return kind === "text" ? decoderFor(contentType).decode(bytes) : bytes;
}

/** Creates the error for a status other than 2xx. A body that cannot be read does not hide the status. */
export async function httpError(response: Response, line: RequestLine, maxBytes: number): Promise<RestError> {
  const { status, headers } = response;
  const body = await parseBody(response, line, maxBytes).catch((error: unknown) =>
    isRestError(error) ? error.body : null,
  );
  const retryAfter = status === 429 || status === 503 ? parseRetryAfter(headers.get("retry-after")) : null;
  const message = `${line.method} ${line.url} failed: HTTP ${status}${meaningOf(status, retryAfter)}`;
  return new RestError("http", message, { ...responseDetails(response, line), body, retryAfter });
}

/** Length of the body by its header; null when it is missing or counts compressed bytes. */
export function declaredLength(headers: Headers): number | null {
  const length = headers.get("content-length");
  if (length === null || headers.has("content-encoding")) return null;
  return /^\d{1,15}$/.test(length) ? Number(length) : null;
}

/**
 * Yields the chunks of a body, each valid until the next is requested. Cancels the body when the consumer stops early.
 */
export async function* readChunks(response: Response): AsyncGenerator<Uint8Array, void> {
  if (!response.body) return;
  const byob = byobReader(response.body);
  const reader = byob ?? response.body.getReader();
  // Small at first: zeroing 64 KiB doubles the cost of a small response.
  let buffer = new Uint8Array(byob ? 16_384 : 0);
  try {
    for (;;) {
      const { done, value } = byob ? await byob.read(buffer) : await (reader as DefaultReader).read();
      if (done) return;
      yield value;
      if (byob) buffer = new Uint8Array(value.buffer as ArrayBuffer);
      if (byob && value.length === 16_384) buffer = new Uint8Array(65_536);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

type DefaultReader = ReadableStreamDefaultReader<Uint8Array>;

/** On Deno, a reader that reuses the memory of the caller and takes half of the time; null elsewhere. */
function byobReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return "Deno" in globalThis ? body.getReader({ mode: "byob" }) : null;
  } catch {
    // The responses of `node:http` are not byte streams.
    return null;
  }
}

export function responseDetails(response: Response, line: RequestLine): RestErrorDetails {
  return { status: response.status, headers: response.headers, ...line };
}

async function readBytes(response: Response, line: RequestLine, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readChunks(response)) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(response, line, maxBytes);
    // Copied, because the reader reuses its memory.
    chunks.push(chunk.slice());
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function parseJson(text: string, response: Response, line: RequestLine): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RestError(
      "invalid_response",
      `${line.method} ${line.url} responded with HTTP ${response.status} and invalid JSON: ${messageOf(error)}`,
      { ...responseDetails(response, line), body: text, cause: error },
    );
  }
}

function tooLarge(response: Response, line: RequestLine, maxBytes: number): RestError {
  return new RestError(
    "response_too_large",
    `${line.method} ${line.url} responded with HTTP ${response.status} and a body over maxResponseBytes (${maxBytes})`,
    responseDetails(response, line),
  );
}

const textTypes =
  /^text\/|\+(?:xml|yaml)$|^application\/(?:xml|yaml|x-ndjson|jsonl|javascript|graphql|sql|toml|x-www-form-urlencoded)$/;

function kindOf(contentType: string): "json" | "text" | "binary" {
  if (contentType === "application/json") return "json";
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (/^(?:application|text)\/json$|\+json$/.test(type)) return "json";
  return textTypes.test(type) ? "text" : "binary";
}

const utf8 = new TextDecoder();

/** The decoder of the declared charset; UTF-8 when there is none or it is unknown. */
function decoderFor(contentType: string): TextDecoder {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset);
  } catch {
    return utf8;
  }
}

function meaningOf(status: number, retryAfter: number | null): string {
  const when = retryAfter === null ? "with exponential backoff" : `after ${retryAfter} seconds`;
  if (status === 401) return " (authentication failed)";
  if (status === 429) return ` (rate limit exceeded; retry ${when})`;
  return status >= 500 ? " (server error)" : "";
}
