import { setTimeout as delay } from "node:timers/promises";
import { say } from "../terminal/report.ts";
import { isPassing } from "./error-messages.ts";

/** The pause before the first new attempt, and the longest one, in ms. */
const firstPauseMs = 100;
const longestPauseMs = 3_000;

/**
 * Reads a stream that must survive a restart of the service: when the connection breaks, it is opened again until
 * `isOver` says that there is nothing more to come.
 *
 * States: connected → (broken) → waiting → connected …; from waiting to an error after `patienceMs` without a
 * single message. An error at the very first attempt is thrown at once, since then nothing ever worked.
 *
 * @param connect - opens the stream after the last message that `onMessage` has taken
 */
export async function follow<Message>(options: {
  connect: () => AsyncIterable<Message>;
  onMessage: (message: Message) => void | Promise<void>;
  isOver: () => boolean;
  patienceMs: number;
}): Promise<void> {
  let pauseMs = firstPauseMs;
  let hasWorked = false;
  let brokenSince: number | null = null;
  for (;;) {
    try {
      for await (const message of options.connect()) {
        if (brokenSince !== null) say.detail("Connected again.");
        hasWorked = true;
        brokenSince = null;
        pauseMs = firstPauseMs;
        await options.onMessage(message);
      }
    } catch (error) {
      if (!isPassing(error) || !hasWorked) throw error;
      brokenSince ??= announceBreak();
      if (Date.now() - brokenSince > options.patienceMs) throw error;
    }
    if (options.isOver()) return;
    // The service also ends streams in good order when it stops; then it is asked again as well.
    hasWorked = true;
    await delay(pauseMs);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

function announceBreak(): number {
  say.detail("Lost the connection; trying again …");
  return Date.now();
}
