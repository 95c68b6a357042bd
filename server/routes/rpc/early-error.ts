/**
 * Sends the error of an HTTP/2 call whose request has not arrived completely in one packet; see `sendWhole`. The library
 * sends headers, messages and trailers apart.
 */
import type { Duplex } from "node:stream";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { type Request, type Response, sendWhole } from "../answer.ts";
import { connectEnd, grpcWebTrailers } from "./corrected.ts";

/** The headers that the library sets for every response. */
const ownHeaders = new Set(["content-type", "grpc-encoding", "grpc-accept-encoding"]);

/** Returns null when it has sent the response, otherwise the response to send. */
export async function sendEarlyError(
  request: Request,
  response: Response,
  result: UniversalServerResponse,
): Promise<UniversalServerResponse | null> {
  const { body, trailer, status } = result;
  if (!("stream" in request) || body === undefined || body === null) return result;
  if ((request.stream as Duplex).readableEnded) return result;
  const headers = new Headers(result.header);
  if (trailer !== undefined && hasOther(headers)) return result;
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  const isLast = first.done === true || (trailer === undefined && (status !== 200 || isEnd(first.value)));
  if (!isLast) return { ...result, body: prepend(first.value, chunks) };
  await chunks.return?.();
  if (first.done !== true) sendWhole(response, status, Object.fromEntries(headers), first.value);
  else sendHeaders(response, status, [...headers, ...(trailer ?? [])]);
  return null;
}

function sendHeaders(
  response: Response,
  status: number,
  headers: readonly (readonly [string, string])[],
): void {
  response.statusCode = status;
  for (const [name, value] of headers) response.setHeader(name, value);
  response.end();
}

/**
 * The headers and trailers of a gRPC error are one frame (Trailers-Only in the specification of gRPC over HTTP/2). A method
 * that has set response headers gets two frames: clients read the one frame of Trailers-Only as trailers.
 */
function hasOther(headers: Headers): boolean {
  return [...headers.keys()].some((name) => !ownHeaders.has(name));
}

/** Whether an envelope of a Connect stream or of gRPC-Web is the last one. */
function isEnd([flags = 0]: Uint8Array): boolean {
  return (flags & (connectEnd | grpcWebTrailers)) !== 0;
}

async function* prepend<T>(first: T, rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    yield first;
    yield* { [Symbol.asyncIterator]: () => rest };
  } finally {
    await rest.return?.();
  }
}
