import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { builtin } from "./builtin.ts";

/**
 * The answer of `node:http` as the Response that `fetch` would give: decompressed, read only as fast as it is consumed,
 * failing when it ends early.
 *
 * @param signal - whose reason the body fails with when the exchange is aborted
 */
export function toResponse(incoming: IncomingMessage, signal: AbortSignal): Response {
  const headers = new Headers();
  for (let index = 0; index + 1 < incoming.rawHeaders.length; index += 2) {
    headers.append(incoming.rawHeaders[index] ?? "", incoming.rawHeaders[index + 1] ?? "");
  }
  const status = incoming.statusCode ?? 0;
  if (status < 200 || status > 599) throw new Error(`the server answered with the status ${status}`);
  const init = { status, statusText: incoming.statusMessage ?? "", headers };
  if (status === 204 || status === 205 || status === 304) {
    incoming.resume();
    return new Response(null, init);
  }
  return new Response(toStream(decoded(incoming, headers), incoming, signal), init);
}

/** Undoes the content encoding, and then takes the headers away that describe the encoded form. */
function decoded(incoming: IncomingMessage, headers: Headers): Readable {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return incoming;
  const zlib = builtin("node:zlib", "decompress an answer");
  const { pipeline } = builtin("node:stream", "decompress an answer");
  const decoder =
    encoding === "gzip" || encoding === "x-gzip"
      ? zlib.createGunzip()
      : encoding === "br"
        ? zlib.createBrotliDecompress()
        : null;
  if (!decoder)
    throw new Error(`the server answered with the content encoding ${encoding}, which was not asked for`);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return pipeline(incoming, decoder, () => {});
}

function toStream(
  source: Readable,
  incoming: IncomingMessage,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  let settled = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const settle = (error?: Error): void => {
          if (settled) return;
          settled = true;
          if (error) controller.error(signal.aborted ? signal.reason : error);
          else controller.close();
        };
        source.on("data", (piece: Uint8Array) => {
          if (settled) return;
          controller.enqueue(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength));
          if ((controller.desiredSize ?? 0) <= 0) source.pause();
        });
        source.once("end", () => settle());
        source.on("error", (error) => settle(error.message === "aborted" ? endedEarly(error) : error));
        source.once("close", () => settled || settle(endedEarly()));
        source.pause();
      },
      pull() {
        source.resume();
      },
      cancel() {
        settled = true;
        incoming.destroy();
        source.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

function endedEarly(cause?: Error): Error {
  return new Error("the connection closed before the answer was complete", { cause });
}
