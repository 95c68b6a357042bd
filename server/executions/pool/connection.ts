/** The operating system's process of a runner: starts it, exchanges messages with it, and kills its process group. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import type { Duplex, Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { fileURLToPath } from "node:url";
import { channelFd, type RunnerCommand, runnerCommand } from "../../runtime.ts";
import { type Frame, FrameReader, FrameWriter } from "../runner/frames.ts";
import { LineBuffer } from "../runner/line-buffer.ts";
import { maxFrameBytes, type ToRunner } from "../runner/protocol.ts";
import type { PoolLimits } from "./contract.ts";
import { ProtocolError } from "./parse-message.ts";
import { readRateLimited } from "./read-limited.ts";

export interface ProcessOptions {
  /** The unpacked package, as a real path. */
  directory: string;
  /** Real paths outside the package that its code needs to read. */
  provided: readonly string[];
  /** A folder for this process only. Created here, removed when the process has ended. */
  scratch: string;
  /** A folder for the runtime's compilation cache, shared by all runners. */
  cache: string;
  limits: PoolLimits;
}

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

const runnerFolder = join(dirname(fileURLToPath(import.meta.url)), "..", "runner");
const extension = extname(fileURLToPath(import.meta.url));

/** Source files of the server that a runner loads. */
const ownFiles = [runnerFolder, join(runnerFolder, "..", "..", `runtime${extension}`)];

/** How long to wait for the remaining messages after the process has exited. */
const drainMs = 1000;

/** How long a runner may live after it closed its channel before this counts as a violation: it may be exiting. */
const closedMs = 2_000;

/** @throws Error when the operating system cannot start the process */
export async function startProcess(
  options: ProcessOptions,
  events: ProcessEvents,
): Promise<RunnerConnection> {
  await mkdir(options.scratch, { recursive: true });
  const scratch = await realpath(options.scratch);
  const command = runnerCommand(await realpath(join(runnerFolder, `main${extension}`)), {
    read: [
      options.directory,
      ...options.provided,
      ...(await Promise.all(ownFiles.map((path) => realpath(path)))),
    ],
    scratch,
    heapBytes: options.limits.memoryBytes,
    cache: options.cache,
  });
  const child = await spawnRunner(command, scratch);
  // When the machine runs out of memory, Linux should kill a runner before the server.
  void writeFile(`/proc/${child.pid}/oom_score_adj`, "1000").catch(() => {});
  return new RunnerConnection(child, scratch, options.limits, events);
}

async function spawnRunner({ command, args, env }: RunnerCommand, cwd: string): Promise<ChildProcess> {
  const stdio = Array.from({ length: channelFd + 1 }, () => "pipe" as const);
  // Detached: a process group can be killed as a whole, and Ctrl-C in the server's terminal does not reach it.
  const child = spawn(command, args, { cwd, env, detached: true, stdio });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  child.on("error", () => {});
  return child;
}

export class RunnerConnection {
  readonly pid: number;
  readonly #streams: { stdin: Duplex; stdout: Readable; stderr: Readable; channel: Duplex };
  readonly #writer: FrameWriter;
  readonly #events: ProcessEvents;
  #flushScheduled = false;
  #exited = false;
  #broken = false;

  constructor(child: ChildProcess, scratch: string, limits: PoolLimits, events: ProcessEvents) {
    const [stdin, stdout, stderr, channel] = child.stdio as unknown as [Duplex, Readable, Readable, Duplex];
    this.#streams = { stdin, stdout, stderr, channel };
    this.pid = child.pid ?? 0;
    this.#events = events;
    this.#writer = new FrameWriter((frame) => channel.write(frame));
    const drained = Promise.all([
      this.#readFrames(limits),
      this.#readLines(stdout, "info"),
      this.#readLines(stderr, "warn"),
    ]);
    // The server writes nothing to it. Its end tells the runner's watchdog that the server has ended.
    stdin.on("error", () => {});
    child.once("exit", (code, signal) => {
      this.#exited = true;
      this.#killGroup();
      void this.#finish(drained, scratch).then(() => events.onEnd(code, signal));
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

  /** Kills the process and its group. `onEnd` follows. */
  kill(): void {
    if (!this.#exited) this.#killGroup();
  }

  #killGroup(): void {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // The group is gone, or the platform has no groups.
      if (!this.#exited) this.#killProcess();
    }
  }

  #killProcess(): void {
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
    for (const stream of Object.values(this.#streams)) stream.destroy();
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
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
