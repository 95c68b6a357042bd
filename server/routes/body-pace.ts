/**
 * Bodies that arrive too slowly, and the rest of bodies that no handler reads. A client that holds its body back would
 * otherwise hold a connection and its memory for as long as it likes.
 */

import type { IncomingMessage as Request, ServerResponse as Response } from "node:http";
import { Code, type ConnectError } from "@connectrpc/connect";
import { fail } from "../errors.ts";

export interface Pace {
  /** In each window at least this rate must be reached, on average. */
  minBytesPerSecond: number;
  windowMs: number;
  /** The whole body must arrive within this time; infinite for bodies whose size decides. */
  totalMs: number;
}

/**
 * The chunks of a body.
 * @throws ConnectError `deadline_exceeded` when the body is slower than the pace
 */
export async function* readInTime(request: Request, pace: Pace): AsyncGenerator<Uint8Array> {
  inviteBody(request);
  const { promise: tooSlow, reject } = Promise.withResolvers<never>();
  tooSlow.catch(() => {});
  const startMs = performance.now();
  let windowBytes = 0;
  const timer = setInterval(
    () => {
      const isSlow = windowBytes * 1000 < pace.minBytesPerSecond * pace.windowMs;
      if (isSlow || performance.now() - startMs >= pace.totalMs - 1) reject(slowBody(request, pace));
      windowBytes = 0;
    },
    Math.min(pace.windowMs, pace.totalMs),
  );
  // The connection outlives a body that is not read to its end: the response must still be sent on it.
  const chunks = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  let waiting = false;
  try {
    for (;;) {
      waiting = true;
      const chunk = await Promise.race([chunks.next(), tooSlow]);
      waiting = false;
      if (chunk.done === true) return;
      windowBytes += chunk.value.byteLength;
      yield chunk.value;
    }
  } finally {
    clearInterval(timer);
    // An iterator that waits for a chunk returns only after it has one.
    if (!waiting) await chunks.return?.();
  }
}

function slowBody(request: Request, { minBytesPerSecond, totalMs }: Pace): ConnectError {
  stalled.add(request);
  const total = Number.isFinite(totalMs) ? `, or took longer than ${totalMs / 1000} s` : "";
  return fail(
    Code.DeadlineExceeded,
    `The body arrived at less than ${minBytesPerSecond} bytes per second${total}.`,
    { status: 408 },
  );
}

/** Requests with an unanswered `Expect: 100-continue`. */
const expecting = new WeakMap<Request, Response>();
const stalled = new WeakSet<Request>();

/** Notes that the client waits for `100 Continue` before it sends the body. */
export function expectContinue(request: Request, response: Response): void {
  expecting.set(request, response);
}

/** Asks for the body if the client waits for that. Call it when nothing but the body can be wrong. */
export function inviteBody(request: Request): void {
  if (request.headers.expect === undefined) return;
  expecting.get(request)?.writeContinue();
  expecting.delete(request);
}

/** The rest of a body is read up to this size: a client whose connection is reset may never see the response. */
const maxRestBytes = 8 * 1024 * 1024;
const restMs = 10_000;

/** Whether the connection must close after the response, because the rest of the body is too large or will not come. */
export function mustClose(request: Request): boolean {
  if (request.complete || request.httpVersionMajor > 1) return false;
  return Number(request.headers["content-length"] ?? 0) > maxRestBytes || expecting.has(request);
}

/**
 * Discards the rest of the body after the response, within limits of size and time. An unread body is read without limit
 * on Node and blocks the connection on Deno. An HTTP/2 stream ends with RST_STREAM(NO_ERROR) instead (RFC 9113, section
 * 8.1): an open stream would count against the limit of the connection for as long as it lives.
 */
export function discardRest(request: Request, response: Response): void {
  if (request.complete || finishing.has(request)) return;
  finishing.add(request);
  if (response.writableFinished) finish(request);
  else response.once("finish", () => finish(request));
}

const finishing = new WeakSet<Request>();

function finish(request: Request): void {
  if (request.complete || request.destroyed) return;
  if ("stream" in request) {
    const stream = request.stream as { close(code: number): void };
    stream.close(0);
    return;
  }
  const { socket } = request;
  if (stalled.has(request)) {
    socket.destroySoon();
    return;
  }
  let bytes = 0;
  const timer = setTimeout(() => socket.destroy(), restMs);
  const stop = () => clearTimeout(timer);
  request.on("data", (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (bytes > maxRestBytes) socket.destroy();
  });
  request.once("end", stop);
  request.once("close", stop);
  request.resume();
}
