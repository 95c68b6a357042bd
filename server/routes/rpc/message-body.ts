/**
 * Reads the message of a unary call of Connect, which is the body. Refuses JSON with an integer that a double rounds, as REST
 * does: the library parses a message before a method sees it, and its numbers are doubles then.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { statusHeader } from "../../errors.ts";
import { refuseRounded } from "../../webhooks/json.ts";
import type { Request } from "../answer.ts";
import { Arrival, type Pace } from "../arrivals.ts";
import { bodyError, jsonError } from "../body-error.ts";
import { inviteBody, slowBody } from "../body-pace.ts";

/** A message, of at most 6 MiB by default, arrives within this time. */
export const messagePace: Pace = { minBytesPerSecond: 1024, windowMs: 10_000, totalMs: 30_000 };

/** The type of the message of a unary call of Connect; null for other protocols, which put messages into envelopes. */
export function unaryType({ headers }: Request): "json" | "proto" | null {
  const type = headers["content-type"]?.toLowerCase() ?? "";
  if (type.startsWith("application/json")) return "json";
  return type === "application/proto" ? "proto" : null;
}

/**
 * The bytes of the message. The library reads them after it has authorized the caller.
 * @throws ConnectError when the body is too large or too slow, or has such an integer
 */
export async function* messageBody(
  request: Request,
  maxBytes: number,
  isJson: boolean,
): AsyncGenerator<Uint8Array> {
  const bytes = await readAll(request, maxBytes);
  if (isJson) await checkIntegers(request, bytes, maxBytes);
  yield bytes;
}

async function checkIntegers({ headers }: Request, bytes: Uint8Array, maxBytes: number): Promise<void> {
  const name = headers["content-encoding"]?.toLowerCase();
  const compression = [compressionGzip, compressionBrotli].find((candidate) => candidate.name === name);
  const message = compression === undefined ? bytes : await compression.decompress(bytes, maxBytes);
  const refusal = refuseRounded(message);
  if (refusal !== null) throw jsonError(refusal.code, refusal.message);
}

/** Listeners take less than half of the time of the asynchronous iterator of the request. */
function readAll(request: Request, maxBytes: number): Promise<Uint8Array> {
  inviteBody(request);
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    const arrival = new Arrival(messagePace, () => fail(slowBody(request, messagePace)));

    function fail(error: ConnectError): void {
      arrival.end();
      request.off("data", onData).pause();
      // The status is for REST.
      error.metadata.delete(statusHeader);
      reject(error);
    }

    function onData(chunk: Uint8Array): void {
      arrival.bytes += chunk.byteLength;
      if (arrival.bytes <= maxBytes) chunks.push(chunk);
      else fail(new ConnectError(`The message has more than ${maxBytes} bytes.`, Code.ResourceExhausted));
    }

    function onEnd(): void {
      arrival.end();
      const [first] = chunks;
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
    }

    // A request also closes after its end.
    const onClose = () => {
      if (arrival.isOpen) fail(bodyError("aborted", "The connection closed before the end of the body."));
    };
    if (request.destroyed) onClose();
    else request.on("data", onData).once("end", onEnd).once("close", onClose).once("error", onClose);
  });
}
