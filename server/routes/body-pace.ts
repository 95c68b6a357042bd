/**
 * Bodies that arrive too slowly, and the rest of bodies that no handler reads. A client that holds its body back would
 * otherwise hold a connection and its memory for as long as it likes.
 */

import type { IncomingMessage as Request, ServerResponse as Response } from "node:http";
import type { Duplex, Readable, Writable } from "node:stream";
import type { ConnectError } from "@connectrpc/connect";
import { fail } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { http2ShortBodyEndsSession } from "../runtime.ts";
import { Arrival, type Pace } from "./arrivals.ts";

/**
 * The chunks of a body.
 * @throws ConnectError `deadline_exceeded` when the body is slower than the pace
 */
export async function* readInTime(request: Request, pace: Pace): AsyncGenerator<Uint8Array> {
  inviteBody(request);
  const tooSlow = new Interrupt();
  const arrival = new Arrival(pace, () => tooSlow.raise(slowBody(request, pace)));
  // The connection outlives a body that is not read to its end: the response must still be sent on it.
  const chunks = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  let waiting = false;
  try {
    for (;;) {
      waiting = true;
      const chunk = await tooSlow.wait(chunks.next());
      waiting = false;
      if (chunk.done === true) return;
      arrival.bytes += chunk.value.byteLength;
      yield chunk.value;
    }
  } finally {
    arrival.end();
    // An iterator that waits for a chunk returns only after it has one.
    if (!waiting) await chunks.return?.();
  }
}

/** The error for a body that is slower than the pace. Its connection closes after the response. */
export function slowBody(request: Request, { minBytesPerSecond, totalMs }: Pace): ConnectError {
  stalled.add(request);
  const total = Number.isFinite(totalMs) ? `, or took longer than ${totalMs / 1000} s` : "";
  return fail(
    "BODY_TOO_SLOW",
    `The body arrived at less than ${minBytesPerSecond} bytes per second${total}.`,
  );
}

/** Requests with an unanswered `Expect: 100-continue`. */
const expecting = new WeakMap<Request, Response>();
const stalled = new WeakSet<Request>();

/** Handles a request whose client waits for `100 Continue` before it sends the body. */
export function withExpectation(
  handler: (request: Request, response: Response) => void,
): (request: Request, response: Response) => void {
  return (request, response) => {
    expecting.set(request, response);
    handler(request, response);
  };
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
 * on Node and blocks the connection on Deno. An HTTP/2 stream over a limit ends with RST_STREAM(NO_ERROR) (RFC 9113,
 * section 8.1): an open stream would count against the limit of its connection. Resetting every such stream at once lost
 * against this: clients that still write report the reset instead of the response.
 */
export function discardRest(request: Request, response: Response): void {
  if (request.complete || finishing.has(request)) return;
  finishing.add(request);
  // A response of HTTP/2 finishes when its stream closes, which is after the rest of the body.
  const sent: Writable = "stream" in request ? (request.stream as Duplex) : response;
  if (sent.writableFinished) finish(request);
  else sent.once("finish", () => finish(request));
}

const finishing = new WeakSet<Request>();

function finish(request: Request): void {
  // A request of HTTP/2 counts as complete when its response has ended, and only its stream tells the rest.
  const source: Readable = "stream" in request ? (request.stream as Readable) : request;
  if (source.destroyed || source.readableEnded || (source === request && request.complete)) return;
  if (stalled.has(request) || mayEndSession(request)) {
    giveUp(request);
    return;
  }
  let bytes = 0;
  const timer = setTimeout(() => giveUp(request), restMs);
  const stop = () => clearTimeout(timer);
  // The request of HTTP/2 pauses its stream when its own buffer is full.
  if (source !== request) source.removeAllListeners("data");
  source.on("data", (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (bytes > maxRestBytes) giveUp(request);
  });
  source.on("error", stop);
  source.once("end", stop);
  source.once("close", stop);
  source.resume();
}

/** Whether a client that ends the request short of its Content-Length would end its other calls too. */
function mayEndSession(request: Request): boolean {
  return http2ShortBodyEndsSession && "stream" in request && request.headers["content-length"] !== undefined;
}

function giveUp(request: Request): void {
  if ("stream" in request) (request.stream as { close(code: number): void }).close(noError);
  else request.socket.destroySoon();
}

/** NO_ERROR of HTTP/2. */
const noError = 0;
