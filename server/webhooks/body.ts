/** Reads a whole request body within a size limit and a deadline. */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

/** The common part of the requests of `node:http` and `node:http2`. */
export type BodyRequest = Readable & { headers: IncomingHttpHeaders; complete: boolean };

export interface BodyLimits {
  /** Maximum size of the body. */
  maxBytes: number;
  /** Time for the body to arrive, from the call on. */
  timeoutMs: number;
}

/** Why a body was not read: over the size limit, compressed, too slow, or the connection failed before its end. */
export type BodyRefusal = "too_large" | "encoded" | "timeout" | "aborted";

/**
 * The body, which may be a view into a larger buffer, or one sentence for the sender that says why there is none. After a
 * refusal the rest of the body is still arriving: the response should close the connection.
 */
export type BodyResult = { ok: true; body: Uint8Array } | { ok: false; code: BodyRefusal; message: string };

/**
 * Reads the body. Never rejects, removes its listeners and its timer, and reads nothing when the `Content-Length` is over
 * the limit. A content coding other than `identity` is refused: signatures cover the bytes as sent, senders of webhooks do
 * not compress, and compressed bodies could exceed the limit when expanded.
 */
export async function readBody(request: BodyRequest, limits: BodyLimits): Promise<BodyResult> {
  const early = refuseEarly(request, limits);
  if (early !== null) return early;
  if (!isSmall(request)) return readChunks(request, limits);
  // By the next microtask, a body that arrived together with the headers has been parsed.
  await undefined;
  return readBuffered(request) ?? readChunks(request, limits);
}

/** Larger bodies arrive in several chunks, which the runtimes deliver differently. */
const smallBytes = 16 * 1024;

function isSmall(request: BodyRequest): boolean {
  const length = request.headers["content-length"];
  return length !== undefined && Number(length) <= smallBytes;
}

/** A small body arrives with its headers and needs no listeners and no timer. Null when it is not complete yet. */
function readBuffered(request: BodyRequest): BodyResult | null {
  const { readableLength } = request;
  if (readableLength === 0 || readableLength !== Number(request.headers["content-length"])) return null;
  const body: Uint8Array | null = request.read();
  if (body === null) return null;
  if (body.length === readableLength) return { ok: true, body };
  request.unshift(body);
  return null;
}

function readChunks(request: BodyRequest, limits: BodyLimits): Promise<BodyResult> {
  if (request.destroyed && !request.complete) return Promise.resolve(aborted());
  return new Promise((resolve) => {
    let body: Uint8Array = new Uint8Array();
    let size = 0;
    const timer = setTimeout(() => {
      finish(refusal("timeout", `The body took longer than ${limits.timeoutMs} ms to arrive.`));
    }, limits.timeoutMs);

    function finish(result: BodyResult): void {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
      if (!result.ok) {
        // A later error has no reader, and must not end the process.
        request.on("error", ignore).pause();
      }
      resolve(result);
    }

    function onData(chunk: Uint8Array): void {
      const end = size + chunk.length;
      if (end > limits.maxBytes) {
        finish(tooLarge(limits));
        return;
      }
      // Most bodies are one chunk. A list of a million one-byte chunks would take 100 MB.
      if (size === 0) body = chunk;
      else body = append(body, size, chunk);
      size = end;
    }

    function onEnd(): void {
      finish({ ok: true, body: body.length === size ? body : body.subarray(0, size) });
    }

    function onClose(): void {
      finish(aborted());
    }

    request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}

/**
 * Whether a `Content-Type` is JSON in UTF-8: `application/json` or any type that ends in `+json` (RFC 6839), with any
 * parameters except a charset other than UTF-8, which RFC 8259 does not allow.
 */
export function isJsonContentType(value: string | undefined): boolean {
  if (value === undefined) return false;
  if (value === "application/json") return true;
  const type = /^[ \t]*([!#$%&'*+.^_`|~0-9a-z-]+)\/([!#$%&'*+.^_`|~0-9a-z-]+)[ \t]*/i.exec(value);
  if (type === null) return false;
  const [whole, main = "", sub = ""] = type;
  const isJson = sub.toLowerCase().endsWith("+json") || `${main}/${sub}`.toLowerCase() === "application/json";
  return isJson && hasOnlyUtf8(value.slice(whole.length));
}

/**
 * Parses `;name=value` to the end (RFC 9110, section 5.6.6); false for a syntax error or another charset. Google's push
 * notifications have `; utf-8`.
 */
function hasOnlyUtf8(parameters: string): boolean {
  const parameter =
    /;[ \t]*(?:utf-8[ \t]*(?=;|$)|([!#$%&'*+.^_`|~0-9a-z-]+)=("(?:[^"\\]|\\.)*"|[!#$%&'*+.^_`|~0-9a-z-]+)[ \t]*)?/iy;
  while (parameter.lastIndex < parameters.length) {
    const match = parameter.exec(parameters);
    if (match === null) return false;
    const [, name = "", text = ""] = match;
    if (name.toLowerCase() === "charset" && !/^"?utf-?8"?$/i.test(text)) return false;
  }
  return true;
}

function aborted(): BodyResult {
  return refusal("aborted", "The connection closed before the end of the body.");
}

function refuseEarly(request: BodyRequest, limits: BodyLimits): BodyResult | null {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return refusal("encoded", "The body must be sent without a content encoding.");
  }
  if (Number(request.headers["content-length"] ?? 0) > limits.maxBytes) return tooLarge(limits);
  if (request.destroyed && !request.complete) {
    return refusal("aborted", "The connection closed before the end of the body.");
  }
  return null;
}

/** Writes the chunk after the first `size` bytes, into a buffer of twice the size when this one is too small. */
function append(buffer: Uint8Array, size: number, chunk: Uint8Array): Uint8Array {
  const end = size + chunk.length;
  let room = buffer;
  // The first chunk belongs to the runtime and has no room after it, so the first append always copies.
  if (end > buffer.length) {
    room = Buffer.allocUnsafe(Math.max(end, 2 * size));
    room.set(buffer.subarray(0, size));
  }
  room.set(chunk, size);
  return room;
}

function tooLarge({ maxBytes }: BodyLimits): BodyResult {
  return refusal("too_large", `The body must have at most ${maxBytes} bytes.`);
}

function refusal(code: BodyRefusal, message: string): BodyResult {
  return { ok: false, code, message };
}

function ignore(): void {}
