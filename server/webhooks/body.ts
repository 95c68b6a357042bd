/** Reads a request's body whole, within a limit of bytes and of time. */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

/** What `node:http` and `node:http2` have in common. */
export type BodyRequest = Readable & { headers: IncomingHttpHeaders; complete: boolean };

export interface BodyLimits {
  /** The most bytes that the body may have. */
  maxBytes: number;
  /** How long the body may take to arrive, from the call on. */
  timeoutMs: number;
}

/** Why a body was not read: over the size limit, encoded, too slow, or its connection failed before its end. */
export type BodyRefusal = "too_large" | "encoded" | "timeout" | "aborted";

/**
 * The body, which may be a view into a larger buffer; or why there is none, in one sentence for the sender. After a
 * refusal the rest of the body is still on its way: the answer should close the connection.
 */
export type BodyResult = { ok: true; body: Uint8Array } | { ok: false; code: BodyRefusal; message: string };

/**
 * Reads the body. Never rejects, leaves no listener and no timer behind, and reads nothing when the length alone
 * decides. A content coding other than `identity` is refused: what is signed is what was sent, no sender of webhooks
 * compresses, and what expands is a way to get past the limit.
 */
export async function readBody(request: BodyRequest, limits: BodyLimits): Promise<BodyResult> {
  const early = refuseEarly(request, limits);
  if (early !== null) return early;
  if (!isSmall(request)) return readAsItComes(request, limits);
  // By the next microtask, what came together with the headers has been parsed.
  await undefined;
  return readAtOnce(request) ?? readAsItComes(request, limits);
}

/** Larger bodies come in several pieces, which the runtimes hand out differently. */
const atOnceBytes = 16 * 1024;

function isSmall(request: BodyRequest): boolean {
  const length = request.headers["content-length"];
  return length !== undefined && Number(length) <= atOnceBytes;
}

/** A small body comes with its headers: it is there, and needs no listeners and no timer. Null when there is more to do. */
function readAtOnce(request: BodyRequest): BodyResult | null {
  const { readableLength } = request;
  if (readableLength === 0 || readableLength !== Number(request.headers["content-length"])) return null;
  const body: Uint8Array | null = request.read();
  if (body === null) return null;
  if (body.length === readableLength) return { ok: true, body };
  request.unshift(body);
  return null;
}

function readAsItComes(request: BodyRequest, limits: BodyLimits): Promise<BodyResult> {
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
        // An error that comes later concerns nobody, and must not end the process.
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
      // Most bodies are one chunk. A list of chunks would let a megabyte of them, one byte each, take a hundred.
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
 * Whether a `Content-Type` says JSON in UTF-8: `application/json` or any type that ends in `+json` (RFC 6839), with any
 * parameters but a charset other than UTF-8, which RFC 8259 does not allow.
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

/** Reads `;name=value` to the end (RFC 9110, section 5.6.6); false when it is something else or names a charset. */
function hasOnlyUtf8(parameters: string): boolean {
  const parameter =
    /;[ \t]*(?:([!#$%&'*+.^_`|~0-9a-z-]+)=("(?:[^"\\]|\\.)*"|[!#$%&'*+.^_`|~0-9a-z-]+)[ \t]*)?/iy;
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

/** The buffer, or one of twice the size when it is too small, with the chunk after its first `size` bytes. */
function append(buffer: Uint8Array, size: number, chunk: Uint8Array): Uint8Array {
  const end = size + chunk.length;
  let room = buffer;
  // A chunk is the runtime's own and ends where it ends, so the first append always copies it.
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
