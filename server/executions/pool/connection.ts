/** The operating system's process of a runner: started, spoken to, and ended with everything it started. */
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { fileURLToPath } from "node:url";
import { runnerCommand } from "../../runtime.ts";
import { type Frame, FrameReader, FrameWriter } from "../runner/frames.ts";
import { LineBuffer } from "../runner/line-buffer.ts";
import { maxFrameBytes, type ToRunner } from "../runner/protocol.ts";
import type { PoolLimits } from "./contract.ts";
import { ProtocolError } from "./parse-message.ts";
import { Priority } from "./priority.ts";
import { readRateLimited } from "./read-limited.ts";
import type { Exit, Spawn, SpawnedProcess } from "./spawn.ts";

export interface ProcessOptions {
  /** The unpacked package, as a real path. */
  directory: string;
  /** Real paths outside of the package that its code needs to read. */
  provided: readonly string[];
  /** A folder for this process alone; made here, removed when it has ended. */
  scratch: string;
  /** A folder for what the runtime keeps of compiled modules, for all processes. */
  cache: string;
  limits: PoolLimits;
  spawn: Spawn;
  /** Whether everybody else's work goes before its own from its start on. */
  yields: boolean;
}

export interface ProcessEvents {
  /** @throws what is then given to `onViolation` */
  onFrame(frame: Frame): void;
  /** A line that it wrote past the console. */
  onRawLine(level: "info" | "warn", line: string): void;
  /** It sent what no runner sends. Called once. */
  onViolation(error: Error): void;
  /** It has ended, and everything that it sent before has been given out. */
  onEnd(...exit: Exit): void;
}

const runnerFolder = join(dirname(fileURLToPath(import.meta.url)), "..", "runner");
const extension = extname(fileURLToPath(import.meta.url));

/** Files of ours that a runner loads, besides its package. */
const ownFiles = [runnerFolder, join(runnerFolder, "..", "..", `runtime${extension}`)];

/** How long the rest of its messages is waited for after a runner's end. */
const drainMs = 1000;

/** How long a runner may live on after it closed its channel, before that is a violation: it may be about to end. */
const closedMs = 2_000;

/** @throws Error when the operating system cannot start it */
export async function startProcess(
  options: ProcessOptions,
  events: ProcessEvents,
): Promise<RunnerConnection> {
  await mkdir(options.scratch, { recursive: true });
  const scratch = await realpath(options.scratch);
  const { command, args, env } = runnerCommand(await realpath(join(runnerFolder, `main${extension}`)), {
    read: [
      options.directory,
      ...options.provided,
      ...(await Promise.all(ownFiles.map((path) => realpath(path)))),
    ],
    scratch,
    heapBytes: options.limits.memoryBytes,
    cache: options.cache,
  });
  const runner = await options.spawn({ command, args, cwd: scratch, env });
  // When the machine runs out of memory, Linux is to end runners before their server.
  void writeFile(`/proc/${runner.pid}/oom_score_adj`, "1000").catch(() => {});
  const connection = new RunnerConnection(runner, scratch, options.limits, events);
  if (options.yields) connection.priority.lower(false);
  return connection;
}

export class RunnerConnection {
  readonly pid: number;
  readonly priority: Priority;
  readonly #process: SpawnedProcess;
  readonly #writer: FrameWriter;
  readonly #events: ProcessEvents;
  #flushScheduled = false;
  #exited = false;
  #broken = false;

  constructor(runner: SpawnedProcess, scratch: string, limits: PoolLimits, events: ProcessEvents) {
    this.#process = runner;
    this.pid = runner.pid;
    this.priority = new Priority(this.pid);
    this.#events = events;
    this.#writer = new FrameWriter((frame) => this.#process.channel.write(frame));
    const drained = Promise.all([
      this.#readFrames(limits),
      this.#readLines(runner.stdout, "info"),
      this.#readLines(runner.stderr, "warn"),
    ]);
    // Nothing is written to it: its end tells the runner's watchdog that this process is gone.
    runner.stdin.on("error", () => {});
    runner.onExit((...exit) => {
      this.#exited = true;
      this.#killGroup();
      void this.#finish(drained, scratch).then(() => events.onEnd(...exit));
    });
  }

  send(message: ToRunner): void {
    if (this.#exited) return;
    this.#writer.add(JSON.stringify(message));
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    // Everything that this turn gives to the runner leaves as one frame.
    process.nextTick(() => {
      this.#flushScheduled = false;
      if (!this.#exited) this.#writer.flush();
    });
  }

  /** Ends it at once, with its group. `onEnd` follows. */
  kill(): void {
    if (!this.#exited) this.#killGroup();
  }

  #killGroup(): void {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // No group is left, or the platform has none.
      if (!this.#exited) this.#killAlone();
    }
  }

  #killAlone(): void {
    try {
      process.kill(this.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }

  async #finish(drained: Promise<unknown>, scratch: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, drainMs);
    await Promise.race([drained, promise]);
    clearTimeout(timer);
    const { channel, stdin, stdout, stderr } = this.#process;
    for (const stream of [channel, stdin, stdout, stderr]) stream.destroy();
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }

  async #readFrames(limits: PoolLimits): Promise<void> {
    const reader = new FrameReader(maxFrameBytes(limits));
    await readRateLimited(this.#process.channel, (chunk) => {
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
