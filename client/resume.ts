/**
 * Reads a stream across broken connections.
 *
 * States: *open*; *waiting* after a broken connection or a stream that ended too early; then *open* again. A try that
 * brings a message resets the count of tries. Ends when `isOver` says so, or with the error of the last try.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { backoffMs, type RetryPolicy, sleep } from "./retry.ts";

export interface Resumable<Message> {
  /** Opens the stream after the last message that was read. */
  open(signal: AbortSignal): AsyncIterable<Message>;
  /** Whether a stream that ended without an error is complete. */
  isOver(): boolean;
  policy: RetryPolicy;
  signal: AbortSignal | undefined;
}

export async function* readResumable<Message>(stream: Resumable<Message>): AsyncGenerator<Message> {
  const { policy, signal } = stream;
  // The transport does not end the request of a stream that is left early.
  const left = new AbortController();
  const ended = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  let failures = 0;
  try {
    for (;;) {
      try {
        for await (const message of stream.open(ended)) {
          failures = 0;
          yield message;
        }
        if (stream.isOver()) return;
        failures++;
        // A server that shuts down ends its streams without an error.
        if (failures >= policy.attempts) throw new ConnectError("The stream ended early.", Code.Unavailable);
      } catch (error) {
        failures++;
        if (ended.aborted || failures >= policy.attempts || !isBroken(error)) throw error;
      }
      await sleep(backoffMs(failures, policy.maxDelayMs), ended);
    }
  } finally {
    left.abort();
  }
}

/** The connection failed. Errors of the server have other codes. */
function isBroken(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code === Code.Unavailable || code === Code.Unknown;
}
