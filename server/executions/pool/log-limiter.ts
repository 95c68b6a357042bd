/** Turns the log lines of a runner into log entries, within the limits. */
import { cutLine } from "../runner/lines/cut-line.ts";
import type { LogMessage } from "../runner/protocol.ts";
import type { LogEntry, LogLevel, PoolLimits } from "./contract.ts";
import { defaultJsonDepth, isJson } from "./json-check.ts";
import { ProtocolError } from "./parse-value.ts";

const strayWindowMs = 60_000;

/** A runner shares this machine's clock. A time that differs more was forged. */
const maxClockErrorMs = 60_000;

type Limits = Pick<PoolLimits, "logLineBytes" | "logLines" | "jsonDepth">;

export class LogLimiter {
  readonly #limits: Limits;
  readonly #count: (executionId: string) => void;
  #strayLines = 0;
  #windowEndsAtMs = 0;

  /** @param count - counts a line of an execution. It throws when the runner does not run it, or sent too many lines */
  constructor(limits: Limits, count: (executionId: string) => void) {
    this.#limits = limits;
    this.#count = count;
  }

  /** Appends the allowed lines to `entries`. */
  add(messages: readonly LogMessage[], entries: LogEntry[]): void {
    const nowMs = Date.now();
    for (const { id, level, text, fields, atMs } of messages) {
      const plausibleMs = Math.abs(atMs - nowMs) <= maxClockErrorMs ? Math.round(atMs) : nowMs;
      const extra = fields === undefined ? {} : { fields: this.#checked(fields) };
      if (id === null) this.addStray(level, text, plausibleMs, entries, extra);
      else {
        this.#count(id);
        entries.push({ executionId: id, level, message: this.#clean(text), ...extra, atMs: plausibleMs });
      }
    }
  }

  /** The fields as the JSON that `JSON.stringify` writes, which filters rely on. */
  #checked(fields: string): string {
    const { logLineBytes, jsonDepth = defaultJsonDepth } = this.#limits;
    if (Buffer.byteLength(fields) > logLineBytes) throw new ProtocolError("it sent fields over the limit");
    if (!fields.startsWith("{") || !isJson(fields, jsonDepth)) {
      throw new ProtocolError("it sent fields that are not a JSON object");
    }
    return JSON.stringify(JSON.parse(fields));
  }

  /** Appends a line that belongs to no execution. Such lines are limited per minute. */
  addStray(
    level: LogLevel,
    text: string,
    atMs: number,
    entries: LogEntry[],
    extra: Pick<LogEntry, "fields"> = {},
  ): void {
    const nowMs = Date.now();
    if (nowMs >= this.#windowEndsAtMs) {
      this.#windowEndsAtMs = nowMs + strayWindowMs;
      this.#strayLines = 0;
    }
    this.#strayLines += 1;
    const { logLines } = this.#limits;
    if (this.#strayLines <= logLines) {
      entries.push({ executionId: null, level, message: this.#clean(text), ...extra, atMs });
    } else if (this.#strayLines === logLines + 1) {
      const message = `Log lines are dropped here: a runner may write ${logLines} lines per minute outside executions`;
      entries.push({ executionId: null, level: "warn", message, atMs: nowMs });
    }
  }

  #clean(text: string): string {
    // PostgreSQL's text type cannot store this character.
    const storable = text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text;
    return cutLine(storable, this.#limits.logLineBytes);
  }
}
