/** Reads a runner's output at a limited rate, so that one runner cannot monopolize the server's event loop. */
import type { Readable } from "node:stream";

/** Bytes read in one turn of the event loop before other work gets its turn. */
const bytesPerTurn = 256 * 1024;

/** Sustained rate and burst. For example, eight outputs of 4 MiB per second. */
const bytesPerSecond = 32 * 2 ** 20;
const burstBytes = 32 * 2 ** 20;

/**
 * Pauses the stream when a runner sends too much. The pipe then fills, and the runner blocks.
 *
 * @returns a promise that resolves when the stream has ended or failed
 */
export function readRateLimited(stream: Readable, onChunk: (chunk: Buffer) => void): Promise<void> {
  let turnBytes = 0;
  let credit = burstBytes;
  let creditedAtMs = performance.now();
  let turnPending = false;

  function endTurn(): void {
    const nowMs = performance.now();
    credit = Math.min(burstBytes, credit + ((nowMs - creditedAtMs) / 1000) * bytesPerSecond);
    creditedAtMs = nowMs;
    if (credit <= 0) {
      setTimeout(endTurn, 1 - (credit / bytesPerSecond) * 1000);
      return;
    }
    turnPending = false;
    turnBytes = 0;
    if (stream.isPaused()) stream.resume();
  }

  stream.on("data", (chunk: Buffer) => {
    turnBytes += chunk.length;
    credit -= chunk.length;
    if (turnBytes >= bytesPerTurn || credit <= 0) stream.pause();
    if (!turnPending) {
      turnPending = true;
      setImmediate(endTurn);
    }
    onChunk(chunk);
  });
  return new Promise((resolve) => {
    stream.on("error", () => resolve());
    stream.once("close", () => resolve());
    stream.once("end", () => resolve());
  });
}
