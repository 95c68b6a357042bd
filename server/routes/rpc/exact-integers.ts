/**
 * Refuses JSON messages of Connect with an integer that a double rounds, as REST does. The library parses a message before a
 * method sees it, and its numbers are doubles then.
 */
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { refuseRounded } from "../../webhooks/json.ts";
import type { Request } from "../answer.ts";
import { jsonError } from "../body-error.ts";

/** Whether the request is a unary message of Connect in JSON. */
export function isUnaryJson({ headers }: Request): boolean {
  return headers["content-type"]?.toLowerCase().startsWith("application/json") === true;
}

/** The chunks of the body. @throws ConnectError after the last one when the message has such an integer */
export async function* withExactIntegers(
  { headers }: Request,
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) {
    chunks.push(chunk);
    yield chunk;
  }
  const sent = Buffer.concat(chunks);
  const name = headers["content-encoding"]?.toLowerCase();
  const compression = [compressionGzip, compressionBrotli].find((candidate) => candidate.name === name);
  const message = compression === undefined ? sent : await compression.decompress(sent, maxBytes);
  const refusal = refuseRounded(message);
  if (refusal !== null) throw jsonError(refusal.code, refusal.message);
}
