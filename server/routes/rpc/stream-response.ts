/**
 * Sends the response of a stream, or of a unary call of gRPC. The function of the Connect library for this writes each message
 * on its own.
 */
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { Response } from "../answer.ts";
import { StreamWriter } from "../stream-writer.ts";

export async function sendStream(
  response: Response,
  { status, header, body, trailer }: UniversalServerResponse,
): Promise<void> {
  const chunks = body?.[Symbol.asyncIterator]();
  const writer = new StreamWriter(response);
  try {
    let chunk = await chunks?.next();
    // Now, because a method may set headers until its first message.
    response.writeHead(status, Object.fromEntries(header ?? []));
    for (; chunk?.done === false; chunk = await chunks?.next()) {
      const caughtUp = writer.write(chunk.value);
      if (caughtUp !== null) await caughtUp;
      if (writer.isClosed) return;
    }
    writer.flush();
    if (trailer !== undefined) response.addTrailers(Object.fromEntries(trailer));
    response.end();
  } finally {
    chunks?.return?.()?.catch(() => {});
  }
}
