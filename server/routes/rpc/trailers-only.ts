/**
 * Sends the error of a gRPC call whose request has not arrived completely in one HEADERS frame (Trailers-Only in the
 * specification of gRPC over HTTP/2). With headers and trailers in two frames, clients that stop sending at the headers
 * end their stream short of its Content-Length, and get PROTOCOL_ERROR in place of the error. A method that has set response
 * headers gets two frames all the same: clients read the one frame of Trailers-Only as trailers.
 */
import type { Duplex } from "node:stream";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { Request, Response } from "../answer.ts";

/** The headers that the library sets for every response. */
const ownHeaders = new Set(["content-type", "grpc-encoding", "grpc-accept-encoding"]);

/** Returns null when it has sent the response, otherwise the response to send. */
export async function sendTrailersOnly(
  request: Request,
  response: Response,
  result: UniversalServerResponse,
): Promise<UniversalServerResponse | null> {
  const { body, trailer, header } = result;
  if (!("stream" in request) || trailer === undefined || body === undefined || body === null) return result;
  if ((request.stream as Duplex).readableEnded) return result;
  const headers = new Headers(header);
  if ([...headers.keys()].some((name) => !ownHeaders.has(name))) return result;
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done !== true) return { ...result, body: prepend(first.value, chunks) };
  response.statusCode = result.status;
  for (const [name, value] of [...headers, ...trailer]) response.setHeader(name, value);
  response.end();
  return null;
}

async function* prepend<T>(first: T, rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    yield first;
    yield* { [Symbol.asyncIterator]: () => rest };
  } finally {
    await rest.return?.();
  }
}
