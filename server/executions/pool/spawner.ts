/**
 * Starts processes from a small process of its own, for the runtimes that fork: a fork copies the page tables of the
 * whole process, which holds up a server of 200 MB for 15 ms, and each write to a page after it costs a fault.
 */
import { type ChildProcess, fork } from "node:child_process";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { pipes, type SpawnedProcess, type SpawnRequest } from "./spawn.ts";

/** What the helper says; pipes come with messages of the second kind, in their order. */
export type SpawnerMessage =
  | { id: number; error: string }
  | { id: number; pid: number; pipe: number }
  | { id: number; code: number | null; signal: string | null };

/** A process that was asked for: *starting* until its pipes are here, then *running*, then *ended*. */
interface Started {
  sockets: Socket[];
  pid: number;
  started: PromiseWithResolvers<SpawnedProcess>;
  exit: PromiseWithResolvers<[number | null, string | null]>;
}

/** The helper is started with the first process, and again should it end. */
export class Spawner {
  readonly #started = new Map<number, Started>();
  #helper: ChildProcess | null = null;
  #count = 0;
  #closed = false;

  /** @throws Error when the process, or the helper, cannot be started */
  spawn(request: SpawnRequest): Promise<SpawnedProcess> {
    if (this.#closed) return Promise.reject(new Error("Cannot start a process: the server is closing"));
    const id = this.#count++;
    const one: Started = {
      sockets: [],
      pid: 0,
      started: Promise.withResolvers(),
      exit: Promise.withResolvers(),
    };
    this.#started.set(id, one);
    this.#helper ??= this.#start();
    this.#helper.send({ id, request }, (error) => {
      if (error !== null) this.#fail(id, one, error.message);
    });
    return one.started.promise;
  }

  /** Ends the helper, and with it what it has started and what still runs. */
  close(): void {
    this.#closed = true;
    if (this.#helper?.connected) this.#helper.disconnect();
  }

  #start(): ChildProcess {
    const here = import.meta.url;
    const file = new URL(`./spawner-main.${here.endsWith(".ts") ? "ts" : "js"}`, here);
    // Ctrl-C in the server's terminal is the server's.
    const helper = fork(fileURLToPath(file), { detached: true, env: {}, execArgv: [], stdio: "ignore" });
    // What runs keeps the server going, not this.
    helper.unref();
    helper.channel?.unref();
    helper.on("message", (message, handle) =>
      this.#onMessage(message as SpawnerMessage, handle instanceof Socket ? handle : undefined),
    );
    const end = (): void => this.#onHelperEnd(helper);
    helper.once("error", end);
    helper.once("exit", end);
    return helper;
  }

  #onMessage(message: SpawnerMessage, socket: Socket | undefined): void {
    const one = this.#started.get(message.id);
    if (one === undefined) socket?.destroy();
    else if ("error" in message) this.#fail(message.id, one, message.error);
    else if ("pipe" in message) this.#onPipe(one, message.pid, socket);
    else {
      this.#started.delete(message.id);
      one.exit.resolve([message.code, message.signal]);
    }
  }

  #onPipe(one: Started, pid: number, socket: Socket | undefined): void {
    one.pid = pid;
    // A pipe that its process has closed already may arrive without a socket: it reads as ended.
    one.sockets.push(socket ?? new Socket().destroy());
    const [stdin, stdout, stderr, channel] = one.sockets;
    if (one.sockets.length < pipes.length) return;
    if (stdin === undefined || stdout === undefined || stderr === undefined || channel === undefined) return;
    const onExit: SpawnedProcess["onExit"] = (listener) =>
      void one.exit.promise.then(([code, signal]) => listener(code, signal));
    one.started.resolve({ pid, stdin, stdout, stderr, channel, onExit });
  }

  #fail(id: number, one: Started, why: string): void {
    this.#started.delete(id);
    one.started.reject(new Error(`Cannot start a process: ${why}`));
  }

  /** Without it nobody would learn of the ends of what it has started: these end with it. */
  #onHelperEnd(helper: ChildProcess): void {
    if (this.#helper !== helper) return;
    this.#helper = null;
    for (const [id, one] of this.#started) {
      this.#fail(id, one, "the process that starts others has ended");
      if (one.pid === 0) continue;
      try {
        process.kill(-one.pid, "SIGKILL");
      } catch {
        // It has ended.
      }
      one.exit.resolve([null, "SIGKILL"]);
    }
  }
}
