/**
 * Starts processes from a small process of its own, for the runtimes that fork: a fork copies the page tables of the
 * whole process, which holds up a server of 200 MB for 15 ms, and each write to a page after it costs a fault.
 */
import { type ChildProcess, fork } from "node:child_process";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { type Exit, pipes, type SpawnedProcess, type SpawnRequest } from "./spawn.ts";

/** What the helper says; a pipe comes with each message of the second kind. */
export type SpawnerMessage =
  | { id: number; error: string }
  | { id: number; pid: number; pipe: number }
  | { id: number; code: number | null; signal: string | null };

/** A process that was asked for: *starting* until its pipes are here, then *running*, then *ended*. */
interface Started {
  readonly sockets: (Socket | undefined)[];
  pid: number;
  readonly started: PromiseWithResolvers<SpawnedProcess>;
  readonly exit: PromiseWithResolvers<Exit>;
  readonly timer: NodeJS.Timeout;
}

/** A start takes milliseconds. A helper that needs so long hangs, and is replaced. */
const startMs = 10_000;

/** The helper is started with the first process, and again should it end. */
export class Spawner {
  readonly #started = new Map<number, Started>();
  #helper: ChildProcess | null = null;
  #count = 0;
  #closed = false;

  /** @throws Error when the process, or the helper, cannot be started */
  async spawn(request: SpawnRequest): Promise<SpawnedProcess> {
    if (this.#closed) throw new Error("Cannot start a process: the server is closing");
    this.#helper ??= this.#start();
    const helper = this.#helper;
    const id = this.#count++;
    const one: Started = {
      sockets: pipes.map(() => undefined),
      pid: 0,
      started: Promise.withResolvers(),
      exit: Promise.withResolvers(),
      timer: setTimeout(() => helper.kill("SIGKILL"), startMs),
    };
    this.#started.set(id, one);
    helper.send({ id, request }, (error) => {
      if (error !== null) this.#fail(id, one, error.message);
    });
    return one.started.promise;
  }

  /** Ends the helper, and with it what it has started and what still runs. */
  close(): void {
    this.#closed = true;
    if (this.#helper?.connected) this.#helper.disconnect();
  }

  /** @throws Error when the operating system cannot start it */
  #start(): ChildProcess {
    const here = import.meta.url;
    const file = new URL(`./spawner-main.${here.endsWith(".ts") ? "ts" : "js"}`, here);
    const helper = fork(fileURLToPath(file), {
      // Ctrl-C in the server's terminal is the server's.
      detached: true,
      env: {},
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const end = (): void => this.#onHelperEnd(helper);
    helper.once("error", end);
    helper.once("exit", end);
    if (!helper.connected) throw new Error("Cannot start the process that starts others");
    // What runs keeps the server going, not this.
    helper.unref();
    helper.channel?.unref();
    helper.on("message", (message, handle) =>
      this.#onMessage(message as SpawnerMessage, handle instanceof Socket ? handle : undefined),
    );
    return helper;
  }

  #onMessage(message: SpawnerMessage, socket: Socket | undefined): void {
    const one = this.#started.get(message.id);
    if (one === undefined) socket?.destroy();
    else if ("error" in message) this.#fail(message.id, one, message.error);
    else if ("pipe" in message) this.#onPipe(one, message, socket);
    else {
      one.exit.resolve([message.code, message.signal]);
      // When it has started this changes nothing but the book-keeping.
      this.#fail(message.id, one, "it ended before its pipes were here");
    }
  }

  #onPipe(one: Started, { pid, pipe }: { pid: number; pipe: number }, socket: Socket | undefined): void {
    one.pid = pid;
    // Standard input of what has ended already is closed before it can be handed over.
    one.sockets[pipe] = socket ?? new Socket().destroy();
    const [stdin, stdout, stderr, channel] = one.sockets;
    if (stdin === undefined || stdout === undefined || stderr === undefined || channel === undefined) return;
    clearTimeout(one.timer);
    one.sockets.length = 0;
    const onExit: SpawnedProcess["onExit"] = (listener) =>
      void one.exit.promise.then((exit) => listener(...exit));
    one.started.resolve({ pid, stdin, stdout, stderr, channel, onExit });
  }

  #fail(id: number, one: Started, why: string): void {
    this.#started.delete(id);
    clearTimeout(one.timer);
    for (const socket of one.sockets) socket?.destroy();
    one.started.reject(new Error(`Cannot start a process: ${why}`));
  }

  /** Without it nobody would learn of the ends of what it has started: these end with it. */
  #onHelperEnd(helper: ChildProcess): void {
    if (this.#helper !== helper) return;
    this.#helper = null;
    const why = "the process that starts others has ended";
    for (const [id, one] of this.#started) {
      this.#fail(id, one, why);
      if (one.pid === 0) continue;
      try {
        process.kill(-one.pid, "SIGKILL");
      } catch {
        // It has ended.
      }
      one.exit.resolve([null, "SIGKILL", why]);
    }
  }
}
