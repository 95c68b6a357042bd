/** The operating system's process of a child: started, spoken to, and ended with everything it started. */
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { fileURLToPath } from "node:url";
import { childCommand } from "../../runtime.ts";
import { type Frame, FrameReader, FrameWriter } from "../child/frames.ts";
import { LineBuffer } from "../child/line-buffer.ts";
import { maxFrameBytes, type ToChild } from "../child/protocol.ts";
import type { PoolLimits } from "./contract.ts";
import { readPaced } from "./inlet.ts";
import { Priority } from "./priority.ts";
import type { Exit, Spawn, SpawnedProcess } from "./spawn.ts";
import { ProtocolError } from "./validate.ts";

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
  /** It sent what no child sends. Called once. */
  onViolation(error: Error): void;
  /** It has ended, and everything that it sent before has been given out. */
  onEnd(...exit: Exit): void;
}

const childFolder = join(dirname(fileURLToPath(import.meta.url)), "..", "child");
const extension = extname(fileURLToPath(import.meta.url));

/** Files of ours that a child loads, besides its package. */
const ownFiles = [childFolder, join(childFolder, "..", "..", `runtime${extension}`)];

/** How long the rest of its messages is waited for after a child's end. */
const drainMs = 1000;

/** How long a child may live on after it closed its channel, before that is a violation: it may be about to end. */
const closedMs = 2_000;

/** @throws Error when the operating system cannot start it */
export async function startProcess(options: ProcessOptions, events: ProcessEvents): Promise<ChildConnection> {
  await mkdir(options.scratch, { recursive: true });
  const scratch = await realpath(options.scratch);
  const { command, args, env } = childCommand(await realpath(join(childFolder, `main${extension}`)), {
    read: [
      options.directory,
      ...options.provided,
      ...(await Promise.all(ownFiles.map((path) => realpath(path)))),
    ],
    scratch,
    heapBytes: options.limits.memoryBytes,
    cache: options.cache,
  });
  const child = await options.spawn({ command, args, cwd: scratch, env });
  // When the machine runs out of memory, Linux is to end children before their server.
  void writeFile(`/proc/${child.pid}/oom_score_adj`, "1000").catch(() => {});
  const connection = new ChildConnection(child, scratch, options.limits, events);
  if (options.yields) connection.priority.lower(false);
  return connection;
}

export class ChildConnection {
  readonly pid: number;
  readonly priority: Priority;
  readonly #child: SpawnedProcess;
  readonly #writer: FrameWriter;
  readonly #events: ProcessEvents;
  #flushScheduled = false;
  #exited = false;
  #broken = false;

  constructor(child: SpawnedProcess, scratch: string, limits: PoolLimits, events: ProcessEvents) {
    this.#child = child;
    this.pid = child.pid;
    this.priority = new Priority(this.pid);
    this.#events = events;
    this.#writer = new FrameWriter((frame) => this.#child.channel.write(frame));
    const drained = Promise.all([
      this.#readFrames(limits),
      this.#readLines(child.stdout, "info"),
      this.#readLines(child.stderr, "warn"),
    ]);
    // Nothing is written to it: its end tells the child's watchdog that this process is gone.
    child.stdin.on("error", () => {});
    child.onExit((...exit) => {
      this.#exited = true;
      this.#killGroup();
      void this.#finish(drained, scratch).then(() => events.onEnd(...exit));
    });
  }

  send(message: ToChild): void {
    if (this.#exited) return;
    this.#writer.add(JSON.stringify(message));
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    // Everything that this turn gives to the child leaves as one frame.
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
    const { channel, stdin, stdout, stderr } = this.#child;
    for (const stream of [channel, stdin, stdout, stderr]) stream.destroy();
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }

  async #readFrames(limits: PoolLimits): Promise<void> {
    const reader = new FrameReader(maxFrameBytes(limits));
    await readPaced(this.#child.channel, (chunk) => {
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
    await readPaced(stream, (chunk) => lines.add(level, decoder.write(chunk)));
    lines.add(level, decoder.end());
    lines.flush();
  }
}
