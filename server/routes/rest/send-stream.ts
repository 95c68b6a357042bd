/** Calls a streaming method and sends its messages as newline-delimited JSON. */
import { type Message, toJson } from "@bufbuild/protobuf";
import { errorJson, toPublicError } from "../../errors.ts";
import type { StreamMethod } from "../internal/local-calls.ts";
import { StreamWriter } from "../stream-writer.ts";
import { jsonWriteOptions } from "../wire.ts";
import type { Call } from "./call.ts";

/** The headers of a stream are sent after this time when it has neither an item nor an error. */
const firstItemMs = 100;

export async function sendStream(call: Call<StreamMethod>, report: (error: unknown) => void): Promise<void> {
  const { calls, method, timeoutMs, signal, response } = call;
  const writer = new StreamWriter(response);
  const start = () => {
    if (response.headersSent) return;
    response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
    response.flushHeaders();
  };
  // An error before the first item gets its own status, unless the headers were sent because the stream was quiet. A
  // deadline that passes before that is such an error, also on a busy machine where both timers are late.
  const endsBefore = timeoutMs !== undefined && timeoutMs <= firstItemMs;
  const quiet = endsBefore ? undefined : setTimeout(start, firstItemMs);
  try {
    const answer = await calls.stream(call);
    for await (const item of answer.message) {
      start();
      const caughtUp = writer.write(lineOf(method, item));
      if (caughtUp !== null) await caughtUp;
      if (writer.isClosed) break;
    }
    writer.flush();
  } catch (error) {
    if (!response.headersSent) throw error;
    // The status is sent already: the last line names the error, and the reset tells that the stream is incomplete.
    if (signal.aborted) return void response.destroy();
    writer.flush();
    const line = JSON.stringify({ error: errorJson(toPublicError(error, report)) });
    response.write(`${line}\n`, () => response.destroy());
    return;
  } finally {
    clearTimeout(quiet);
  }
  start();
  response.end();
}

/** Streams that send the same message share its line. */
const lines = new WeakMap<Message, Uint8Array>();

function lineOf({ output }: StreamMethod, message: Message): Uint8Array {
  const known = lines.get(message);
  if (known !== undefined) return known;
  const line = Buffer.from(`${JSON.stringify(toJson(output, message, jsonWriteOptions))}\n`);
  lines.set(message, line);
  return line;
}
