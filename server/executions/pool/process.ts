/** The operating system's process of a child: started, spoken to, and ended with everything it started. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, realpath, rm } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import type { Duplex, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { JsonValue } from "../../../project/json.ts";
import { channelFd, childCommand } from "../../runtime.ts";
import { FrameReader, FrameWriter } from "../child/frames.ts";
import { frameSlackBytes, type ToChild } from "../child/protocol.ts";
import type { PoolLimits } from "./contract.ts";
import { ProtocolError, parseFrame } from "./validate.ts";

export interface ProcessOptions {
  /** The unpacked package. */
  directory: string;
  /** Real paths outside of the package that its code needs to read. */
  provided: string[];
  /** A folder for this process alone; made here, removed when it has ended. */
  scratch: string;
  cache: string;
  limits: PoolLimits;
}

export interface ProcessEvents {
  onMessages(messages: JsonValue[]): void;
  /** A whole line that it wrote past the console, or a piece of one that is too long. */
  onRawLine(stream: "stdout" | "stderr", line: string): void;
  /** It sent what no child sends. */
  onViolation(reason: string): void;
  /** It has ended, and everything that it sent before has been given out. */
  onEnd(code: number | null, signal: string | null): void;
}

const childFolder = join(dirname(fileURLToPath(import.meta.url)), "..", "child");
const extension = extname(fileURLToPath(import.meta.url));

/** Files of ours that a child loads, besides its package. */
async function ownFiles(): Promise<string[]> {
  return Promise.all(
    [childFolder, join(childFolder, "..", "..", `runtime${extension}`)].map((path) => realpath(path)),
  );
}

/** How long the rest of its messages is waited for after a child's end. */
const drainMs = 1000;

/** @throws Error when the operating system cannot start it */
export async function startProcess(options: ProcessOptions, events: ProcessEvents): Promise<RunningProcess> {
  await mkdir(options.scratch, { recursive: true });
  const scratch = await realpath(options.scratch);
  const directory = await realpath(options.directory);
  const { command, args, env } = childCommand(join(childFolder, `main${extension}`), {
    read: [directory, ...options.provided, ...(await ownFiles())],
    scratch,
    heapBytes: options.limits.memoryBytes,
    cache: options.cache,
  });
  const child = spawn(command, args, {
    cwd: scratch,
    env,
    // A group of its own, so that it is ended as a whole, and so that Ctrl-C in the server's terminal is the server's.
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  return new RunningProcess(child, scratch, options.limits, events);
}

export class RunningProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #writer: FrameWriter;
  readonly #channel: Duplex;
  #scheduled = false;
  #ended = false;

  constructor(child: ChildProcess, scratch: string, limits: PoolLimits, events: ProcessEvents) {
    this.#child = child;
    this.pid = child.pid ?? 0;
    this.#channel = child.stdio[channelFd] as Duplex;
    this.#writer = new FrameWriter((frame) => this.#channel.write(frame));
    const channelClosed = this.#read(this.#channel, limits, events);
    const streamsClosed = [child.stdout, child.stderr].map((stream, i) =>
      stream === null
        ? undefined
        : readLines(stream, limits.logLineBytes, (line) =>
            events.onRawLine(i === 0 ? "stdout" : "stderr", line),
          ),
    );
    // Nothing is written to it: its end tells the child's watchdog that this process is gone.
    child.stdin?.on("error", () => {});
    child.once("exit", (code, signal) => {
      this.#ended = true;
      this.#killGroup();
      const timer = setTimeout(finish, drainMs);
      void Promise.all([channelClosed, ...streamsClosed]).then(finish);
      let finished = false;
      const channel = this.#channel;
      function finish(): void {
        if (finished) return;
        finished = true;
        clearTimeout(timer);
        for (const stream of [channel, child.stdin, child.stdout, child.stderr]) stream?.destroy();
        void rm(scratch, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
        events.onEnd(code, signal);
      }
    });
  }

  send(message: ToChild): void {
    if (this.#ended) return;
    this.#writer.add(JSON.stringify(message));
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Everything that this turn gives to the child leaves as one frame.
    process.nextTick(() => {
      this.#scheduled = false;
      if (!this.#ended) this.#writer.flush();
    });
  }

  /** Ends it at once, with its group. `onEnd` follows. */
  kill(): void {
    if (!this.#ended) this.#killGroup();
  }

  #killGroup(): void {
    if (this.pid <= 0) return;
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // No group is left, or the platform has none.
      if (!this.#ended) this.#child.kill("SIGKILL");
    }
  }

  #read(channel: Duplex, limits: PoolLimits, events: ProcessEvents): Promise<void> {
    // A string in a string: each quote of the output gets an escape.
    const reader = new FrameReader(2 * limits.outputBytes + 2 * frameSlackBytes);
    let broken = false;
    channel.on("data", (chunk: Buffer) => {
      if (broken) return;
      try {
        for (const body of reader.push(chunk)) events.onMessages(parseFrame(body));
      } catch (error) {
        broken = true;
        events.onViolation(
          error instanceof ProtocolError ? error.message : "it sent a frame over the size limit",
        );
      }
    });
    return new Promise((resolve) => {
      channel.once("error", () => resolve());
      channel.once("close", () => resolve());
      channel.once("end", () => {
        resolve();
        if (!this.#ended && !broken) events.onViolation("it closed its channel to the server");
      });
    });
  }
}

/** Cuts a stream into lines of at most `maxBytes`; resolves when it has ended. */
function readLines(stream: Readable, maxBytes: number, onLine: (line: string) => void): Promise<void> {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
    if (rest.length > maxBytes) {
      onLine(rest);
      rest = "";
    }
  });
  return new Promise((resolve) => {
    stream.once("error", () => resolve());
    stream.once("close", () => {
      if (rest !== "") onLine(rest);
      resolve();
    });
  });
}
