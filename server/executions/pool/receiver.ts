/** Validates what a runner sends and passes it on: messages, log lines and outputs. */
import { decodeOutput, type Frame, frameKinds } from "../runner/frames.ts";
import type { FromRunner } from "../runner/protocol.ts";
import type { LogEntry, PoolLimits } from "./contract.ts";
import { isCrashOutput } from "./crash-output.ts";
import { defaultJsonDepth, isJson } from "./json-check.ts";
import { LogLimiter } from "./log-limiter.ts";
import { parseFrame, parseMessage } from "./parse-message.ts";
import { ProtocolError } from "./parse-value.ts";

export type Message = Exclude<FromRunner, { t: "log" | "done" }>;

export interface ReceiverEvents {
  /** Counts a log line of an execution. @throws ProtocolError when the runner does not run it, or sent too many */
  countLine(executionId: string): void;
  onLog(entries: LogEntry[]): void;
  onMessage(message: Message): void;
  /** @param output - JSON text */
  onOutput(executionId: string, output: string): void;
}

/** UTF-16 units of the end of standard error that are kept to explain a crash. */
const keptStderrLength = 4096;

export class Receiver {
  readonly #limits: PoolLimits;
  readonly #events: ReceiverEvents;
  readonly #logLimiter: LogLimiter;
  #stderr = "";
  #crashing = false;

  constructor(limits: PoolLimits, events: ReceiverEvents) {
    this.#limits = limits;
    this.#events = events;
    this.#logLimiter = new LogLimiter(limits, (executionId) => events.countLine(executionId));
  }

  /** The end of what the process itself wrote to standard error. */
  get stderr(): string {
    return this.#stderr;
  }

  /** @throws ProtocolError for a frame that violates the protocol */
  receiveFrame({ kind, body }: Frame): void {
    if (kind === frameKinds.messages) this.#receiveMessages(body);
    else if (kind === frameKinds.output) this.#receiveOutputFrame(body);
    else throw new ProtocolError("it sent a frame of an unknown kind");
  }

  /** Receives a line that was written directly to standard output or standard error. */
  receiveRawLine(level: "info" | "warn", line: string): void {
    if (line.trim() === "") return;
    if (level === "warn") {
      this.#stderr = `${this.#stderr}${line}\n`.slice(-keptStderrLength);
      // The runtime's report of a crash is not users' output, and contains paths of the server.
      this.#crashing ||= isCrashOutput(line);
      if (this.#crashing) return;
    }
    const entries: LogEntry[] = [];
    this.#logLimiter.addStray(level, line, Date.now(), entries);
    this.#deliver(entries);
  }

  #receiveMessages(body: Buffer): void {
    const entries: LogEntry[] = [];
    try {
      for (const value of parseFrame(body)) {
        const message = parseMessage(value);
        if (message.t === "log") {
          this.#logLimiter.add(message.entries, entries);
          continue;
        }
        // Keeps the order: the lines of an attempt come before its outcome.
        this.#deliver(entries);
        if (message.t === "done") this.#receiveOutput(message.id, message.output);
        else this.#events.onMessage(message);
      }
    } finally {
      this.#deliver(entries);
    }
  }

  #receiveOutputFrame(body: Buffer): void {
    const decoded = decodeOutput(body);
    if (decoded === null) throw new ProtocolError("it sent a truncated output");
    this.#receiveOutput(decoded.executionId, decoded.output);
  }

  #receiveOutput(executionId: string, output: string): void {
    const { outputBytes, jsonDepth = defaultJsonDepth } = this.#limits;
    if (Buffer.byteLength(output) > outputBytes) throw new ProtocolError("it sent an output over the limit");
    if (!isJson(output, jsonDepth)) throw new ProtocolError("it sent an output that is not JSON");
    this.#events.onOutput(executionId, output);
  }

  #deliver(entries: LogEntry[]): void {
    if (entries.length > 0) this.#events.onLog(entries.splice(0));
  }
}
