/** The server's end of a runner: exchanges messages with its process, and kills its process group. */
import type { Duplex, Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { type Frame, FrameReader, FrameWriter } from "../runner/frames.ts";
import { LineBuffer } from "../runner/lines/line-buffer.ts";
import { maxFrameBytes, type ToRunner } from "../runner/protocol.ts";
import type { PoolLimits } from "./contract.ts";
import { ProtocolError } from "./parse-value.ts";
import { readRateLimited } from "./read-limited.ts";
import type { StartedProcess } from "./start-process.ts";

export interface ProcessEvents {
  /** An error that it throws is passed to `onViolation`. */
  onFrame(frame: Frame): void;
  /** A line written directly to standard output (`info`) or standard error (`warn`). */
  onRawLine(level: "info" | "warn", line: string): void;
  /** The runner violated the protocol. Called once. */
  onViolation(error: Error): void;
  /** The process has ended, and every frame and line that it sent has been delivered. */
  onEnd(code: number | null, signal: string | null): void;
}

/** How long to wait for the remaining messages after the process has exited. */
const drainMs = 1000;

/** How long a runner may live after it closed its channel before this counts as a violation: it may be exiting. */
const closedMs = 2_000;

export class RunnerConnection {
  readonly #process: StartedProcess;
  readonly #streams: { stdin: Duplex; stdout: Readable; stderr: Readable; channel: Duplex };
  readonly #writer: FrameWriter;
  readonly #events: ProcessEvents;
  #flushScheduled = false;
  #exited = false;
  #broken = false;

  constructor(started: StartedProcess, limits: PoolLimits, events: ProcessEvents) {
    const { child } = started;
    const [stdin, stdout, stderr, channel] = child.stdio as unknown as [Duplex, Readable, Readable, Duplex];
    this.#streams = { stdin, stdout, stderr, channel };
    this.#process = started;
    this.#events = events;
    this.#writer = new FrameWriter((frame) => channel.write(frame));
    const drained = Promise.all([
      this.#readFrames(limits),
      this.#readLines(stdout, "info"),
      this.#readLines(stderr, "warn"),
    ]);
    // The server writes nothing to it.
    stdin.on("error", () => {});
    child.once("exit", (code, signal) => {
      this.#exited = true;
      this.#killGroup();
      void this.#finish(drained).then(() => events.onEnd(code, signal));
    });
  }

  send(message: ToRunner): void {
    if (this.#exited) return;
    this.#writer.add(JSON.stringify(message));
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    // All messages of one turn of the event loop leave in one frame.
    process.nextTick(() => {
      this.#flushScheduled = false;
      if (!this.#exited) this.#writer.flush();
    });
  }

  /** Bytes of memory that the process of users' code occupies; null when they are not known. */
  usedBytes(): Promise<number | null> {
    return this.#process.usedBytes();
  }

  /** Kills the process and its group. `onEnd` follows. */
  kill(): void {
    if (!this.#exited) this.#killGroup();
  }

  get #pid(): number {
    return this.#process.child.pid ?? 0;
  }

  #killGroup(): void {
    try {
      process.kill(-this.#pid, "SIGKILL");
    } catch {
      // The group is gone, or the platform has no groups.
      if (!this.#exited) this.#killProcess();
    }
  }

  #killProcess(): void {
    try {
      process.kill(this.#pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }

  async #finish(drained: Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, drainMs);
    await Promise.race([drained, promise]);
    clearTimeout(timer);
    for (const stream of Object.values(this.#streams)) stream.destroy();
    await this.#process.release();
  }

  async #readFrames(limits: PoolLimits): Promise<void> {
    const reader = new FrameReader(maxFrameBytes(limits));
    await readRateLimited(this.#streams.channel, (chunk) => {
      if (this.#broken) return;
      try {
        for (const frame of reader.push(chunk)) this.#events.onFrame(frame);
      } catch (error) {
        this.#violation(error as Error);
      }
    });
    setTimeout(() => {
      if (!this.#exited) this.#violation(new ProtocolError("it closed its channel"));
    }, closedMs).unref();
  }

  #violation(error: Error): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#events.onViolation(error);
  }

  async #readLines(stream: Readable, level: "info" | "warn"): Promise<void> {
    const lines = new LineBuffer((_, line) => this.#events.onRawLine(level, line));
    const decoder = new StringDecoder("utf8");
    await readRateLimited(stream, (chunk) => lines.add(level, decoder.write(chunk)));
    lines.add(level, decoder.end());
    lines.flush();
  }
}
