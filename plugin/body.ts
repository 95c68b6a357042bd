import { messageOf, RestError } from "./error.ts";
import { detailsOf, type Exchange } from "./exchange.ts";
import { plainLength, readBytes } from "./read.ts";

type BodyKind = "json" | "text" | "binary";

/**
 * The body of an answer, parsed by its content type: JSON (`application/json`, `text/json`, `+json`), text (`text/*`,
 * XML and the like, in the charset that the type names), or else bytes. Null when it is empty.
 *
 * @param maxBytes - after decompression
 * @throws RestError `response_too_large`, or `invalid_response` for broken JSON
 */
export async function parseBody(response: Response, exchange: Exchange, maxBytes: number): Promise<unknown> {
  const { headers } = response;
  const type = headers.get("content-type") ?? "";
  const kind = kindOf(type);
  if (kind === "json" && fits(headers, maxBytes)) {
    const text = await response.text();
    return text === "" ? null : parseJson(text, response, exchange);
  }
  const bytes = await readBytes(response, exchange, maxBytes);
  if (bytes.length === 0) return null;
  // A copy: a piece may be a view into memory that the runtime uses for others too.
  if (kind === "binary") return new Uint8Array(bytes);
  // JSON is UTF-8, whatever its type says (RFC 8259, 8.1).
  return kind === "json" ? parseJson(utf8.decode(bytes), response, exchange) : decoderFor(type).decode(bytes);
}

/** Whether a body is known to be under the limit before it is read. */
function fits(headers: Headers, maxBytes: number): boolean {
  const length = textIsFast ? plainLength(headers) : null;
  return length !== null && length <= maxBytes;
}

/**
 * Where `text()` costs less than reading piece by piece, which takes 1.15 times the time on Bun and 1.4 times on Deno;
 * on Node it is 0.97. Elsewhere the length proves nothing: a browser may hide that it is that of a compressed body.
 */
const textIsFast: boolean = "Bun" in globalThis || "Deno" in globalThis;

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

const utf8 = new TextDecoder();

function decoderFor(contentType: string): TextDecoder {
  const charset = contentType.includes(";") ? /;\s*charset="?([^";\s]+)/i.exec(contentType)?.[1] : undefined;
  if (charset === undefined || /^utf-?8$/i.test(charset)) return utf8;
  try {
    return new TextDecoder(charset);
  } catch {
    return utf8;
  }
}
