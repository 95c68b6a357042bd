import { stderrColors as colors } from "./colors.ts";
import { bytes } from "./format.ts";
import { clean } from "./write.ts";

/** A progress bar on standard error; nothing is drawn where standard error is not a terminal. */
export interface ProgressBar {
  /** @param done - bytes so far; may decrease when a transfer restarts */
  update(done: number): void;
  /** Removes the bar. */
  end(): void;
}

export const noProgress: ProgressBar = { update() {}, end() {} };

const drawIntervalMs = 50;
const maxWidth = 30;
/** Columns for the label, the percentage and the size. */
const otherColumns = 40;

export function progressBar(label: string, totalBytes: number): ProgressBar {
  if (process.stderr.isTTY !== true) return noProgress;
  const width = Math.max(0, Math.min(maxWidth, process.stderr.columns - otherColumns));
  let drawnAt = 0;
  return {
    update(done) {
      const now = performance.now();
      if (now - drawnAt < drawIntervalMs && done < totalBytes) return;
      drawnAt = now;
      const share = totalBytes === 0 ? 1 : Math.min(1, done / totalBytes);
      const full = Math.round(share * width);
      const bar = colors.cyan("━".repeat(full)) + colors.dim("━".repeat(width - full));
      const percent = `${Math.floor(share * 100)}`.padStart(3);
      const size = colors.dim(`of ${bytes(totalBytes)}`);
      process.stderr.write(`\r${clean(`${label}  ${bar} ${percent} %  ${size}`)}\u001b[K`);
    },
    end() {
      process.stderr.write("\r\u001b[K");
    },
  };
}
