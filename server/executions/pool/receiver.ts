/** Reads what a runner sends: frames into messages that have the right shape, lines of the log, and outputs that are JSON. */
import { decodeOutput, type Frame, frameKinds } from "../runner/frames.ts";
import type { FromRunner } from "../runner/protocol.ts";
import type { LogEntry, PoolLimits } from "./contract.ts";
import { isCrashOutput } from "./crash-output.ts";
import { isJson } from "./json-check.ts";
import { LogLimiter } from "./log-limiter.ts";
import { ProtocolError, parseFrame, parseMessage } from "./parse-message.ts";

export type Message = Exclude<FromRunner, { t: "log" | "done" }>;

export interface ReceiverEvents {
  /** Counts a line of a attempt. @throws ProtocolError when it is not the runner's, or has written too many */
  countLine(executionId: string): void;
  onLog(entries: LogEntry[]): void;
  onMessage(message: Message): void;
  /** @param valid - whether the output is JSON after all; one that is too large to tell at once is a promise */
  onOutput(executionId: string, output: string, valid: true | Promise<boolean>): void;
}

/** Levels of nesting of what leaves a runner, unless the limits say otherwise. */
export const defaultJsonDepth = 64;

/** The end of its standard error that is kept to explain a death. */
const keptStderrLength = 4096;

export class Receiver {
  readonly #limits: PoolLimits;
  readonly #events: ReceiverEvents;
  readonly #gate: LogLimiter;
  #stderr = "";
  #dying = false;

  constructor(limits: PoolLimits, events: ReceiverEvents) {
    this.#limits = limits;
    this.#events = events;
    this.#gate = new LogLimiter({
      lineBytes: limits.logLineBytes,
      lines: limits.logLines,
      count: (executionId) => events.countLine(executionId),
    });
  }

  /** The end of what it wrote to its standard error past the console. */
  get stderr(): string {
    return this.#stderr;
  }

  /** @throws ProtocolError for what no runner sends */
  takeFrame({ kind, body }: Frame): void {
    if (kind === frameKinds.messages) this.#takeMessages(body);
    else if (kind === frameKinds.output) this.#takeOutputFrame(body);
    else throw new ProtocolError("it sent a frame of no known kind");
  }

  /** A line that it wrote past the console. */
  takeRawLine(level: "info" | "warn", line: string): void {
    if (line.trim() === "") return;
    if (level === "warn") {
      this.#stderr = `${this.#stderr}${line}\n`.slice(-keptStderrLength);
      // What a runtime prints when it dies is about the runtime, and names the server's paths.
      this.#dying ||= isCrashOutput(line);
      if (this.#dying) return;
    }
    const entries: LogEntry[] = [];
    this.#gate.stray(level, line, Date.now(), entries);
    this.#give(entries);
  }

  #takeMessages(body: Buffer): void {
    const entries: LogEntry[] = [];
    try {
      for (const value of parseFrame(body)) {
        const message = parseMessage(value);
        if (message.t === "log") {
          this.#gate.take(message.entries, entries);
          continue;
        }
        // In the order in which they came: the lines of a attempt before its outcome.
        this.#give(entries);
        if (message.t === "done") this.#takeOutput(message.id, message.output);
        else this.#events.onMessage(message);
      }
    } finally {
      this.#give(entries);
    }
  }

  #takeOutputFrame(body: Buffer): void {
    const decoded = decodeOutput(body);
    if (decoded === null) throw new ProtocolError("it sent an output that is cut short");
    this.#takeOutput(decoded.executionId, decoded.output);
  }

  #takeOutput(executionId: string, output: string): void {
    const { outputBytes, jsonDepth } = this.#limits;
    if (Buffer.byteLength(output) > outputBytes) throw new ProtocolError("it sent an output over the limit");
    const valid = isJson(output, jsonDepth ?? defaultJsonDepth);
    if (valid === false) throw new ProtocolError("it sent an output that is not JSON");
    this.#events.onOutput(executionId, output, valid);
  }

  #give(entries: LogEntry[]): void {
    if (entries.length > 0) this.#events.onLog(entries.splice(0));
  }
}
