/** Turns what a runner wrote into log entries, within the limits. */
import { cutLine } from "../runner/cut-line.ts";
import type { LogMessage } from "../runner/protocol.ts";
import type { LogEntry, LogLevel } from "./contract.ts";

const strayWindowMs = 60_000;

/** A runner's clock is this machine's; what is further off is made up. */
const maxClockErrorMs = 60_000;

export interface LogGateOptions {
  lineBytes: number;
  /** Lines per attempt; and, for those that belong to no attempt, per minute. */
  lines: number;
  /** Counts a line of a attempt. @throws when the attempt is not the runner's, or has written too many */
  count(executionId: string): void;
}

export class LogLimiter {
  readonly #options: LogGateOptions;
  #strayLines = 0;
  #windowEndsAtMs = 0;

  constructor(options: LogGateOptions) {
    this.#options = options;
  }

  /** Appends to `entries` what may pass. */
  take(messages: readonly LogMessage[], entries: LogEntry[]): void {
    const nowMs = Date.now();
    for (const { id, level, text, atMs } of messages) {
      if (id !== null) {
        this.#options.count(id);
        entries.push({ executionId: id, level, message: this.#clean(text), atMs: plausible(atMs, nowMs) });
      } else this.stray(level, text, plausible(atMs, nowMs), entries);
    }
  }

  /** A line that belongs to no attempt. */
  stray(level: LogLevel, text: string, atMs: number, entries: LogEntry[]): void {
    const nowMs = Date.now();
    if (nowMs >= this.#windowEndsAtMs) {
      this.#windowEndsAtMs = nowMs + strayWindowMs;
      this.#strayLines = 0;
    }
    this.#strayLines += 1;
    const { lines } = this.#options;
    if (this.#strayLines <= lines) {
      entries.push({ executionId: null, level, message: this.#clean(text), atMs });
    } else if (this.#strayLines === lines + 1) {
      const message = `Lines are left out here: a process may write ${lines} a minute outside of executions`;
      entries.push({ executionId: null, level: "warn", message, atMs: nowMs });
    }
  }

  #clean(text: string): string {
    // PostgreSQL's text holds every character but this one.
    const storable = text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text;
    return cutLine(storable, this.#options.lineBytes);
  }
}

function plausible(atMs: number, nowMs: number): number {
  return Math.abs(atMs - nowMs) <= maxClockErrorMs ? Math.round(atMs) : nowMs;
}
