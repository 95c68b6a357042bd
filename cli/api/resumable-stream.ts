import { setTimeout as delay } from "node:timers/promises";
import { report } from "../terminal/report.ts";
import { isTransient } from "./error-messages.ts";

const minBackoffMs = 100;
const maxBackoffMs = 3_000;

/**
 * Reads a stream across restarts of the service: opens it again, after a broken connection or an end, until `isOver`
 * returns true.
 *
 * States: connected → waiting → connected …, and from waiting to an error after `maxOutageMs` without a message. An
 * error of the first connection is thrown at once, unless `isKnownToRun` says that the service has just responded.
 *
 * @param options - `connect` opens the stream after the last message that `onMessage` received
 */
export async function readResumableStream<Message>(options: {
  connect: () => AsyncIterable<Message>;
  onMessage: (message: Message) => void | Promise<void>;
  isOver: (isBroken: boolean) => boolean;
  maxOutageMs: number;
  isKnownToRun?: boolean;
}): Promise<void> {
  let backoffMs = minBackoffMs;
  let wasConnected = options.isKnownToRun === true;
  let brokenAt: number | null = null;
  for (;;) {
    let isBroken = false;
    try {
      for await (const message of options.connect()) {
        if (brokenAt !== null) report.detail("Reconnected.");
        wasConnected = true;
        brokenAt = null;
        backoffMs = minBackoffMs;
        await options.onMessage(message);
      }
    } catch (error) {
      if (!isTransient(error) || !wasConnected) throw error;
      isBroken = true;
      if (brokenAt === null) report.detail("Lost the connection; reconnecting …");
      brokenAt ??= Date.now();
      if (Date.now() - brokenAt > options.maxOutageMs) throw error;
    }
    if (options.isOver(isBroken)) return;
    // A service that shuts down ends its streams without an error, so the stream is opened again after that too.
    wasConnected = true;
    await delay(backoffMs);
    backoffMs = Math.min(backoffMs * 2, maxBackoffMs);
  }
}
