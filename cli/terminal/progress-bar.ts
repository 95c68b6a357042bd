import { err } from "./colors.ts";
import { bytes } from "./format.ts";

/** A bar on standard error; nothing at all where standard error is no terminal. */
export interface Progress {
  /** @param done - bytes so far; may go back when an attempt starts anew */
  update(done: number): void;
  /** Removes the bar. */
  end(): void;
}

/** How often the bar is drawn at most, in ms. */
const drawEveryMs = 50;
const widest = 30;
/** What stands around the bar, in columns. */
const around = 40;

/** Starts a bar for a known number of bytes. */
export function progress(label: string, totalBytes: number): Progress {
  if (process.stderr.isTTY !== true) return { update() {}, end() {} };
  const width = Math.max(0, Math.min(widest, process.stderr.columns - around));
  let drawnAt = 0;
  return {
    update(done) {
      const now = performance.now();
      if (now - drawnAt < drawEveryMs && done < totalBytes) return;
      drawnAt = now;
      const share = totalBytes === 0 ? 1 : Math.min(1, done / totalBytes);
      const full = Math.round(share * width);
      const bar = err.cyan("━".repeat(full)) + err.dim("━".repeat(width - full));
      const percent = `${Math.floor(share * 100)}`.padStart(3);
      process.stderr.write(`\r${label}  ${bar} ${percent} %  ${err.dim(`of ${bytes(totalBytes)}`)}\u001b[K`);
    },
    end() {
      process.stderr.write("\r\u001b[K");
    },
  };
}
