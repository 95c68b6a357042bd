/** Starting processes with pipes: standard input, output and error, and one more for messages. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { channelFd } from "../../runtime.ts";

export interface SpawnRequest {
  command: string;
  args: readonly string[];
  cwd: string;
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
}

/** Code or signal, and why when it was ended through no fault of its own. */
export type Exit = [code: number | null, signal: string | null, why?: string];

/** A process in a session and a group of its own. */
export interface SpawnedProcess {
  readonly pid: number;
  readonly stdin: Duplex;
  readonly stdout: Duplex;
  readonly stderr: Duplex;
  readonly channel: Duplex;
  /** Calls back once it has ended, also when it had ended before. */
  onExit(listener: (...exit: Exit) => void): void;
}

/** @throws Error when the operating system cannot start it */
export type Spawn = (request: SpawnRequest) => Promise<SpawnedProcess>;

/** The pipes' places among the file descriptors of the process. */
export const pipes = ["stdin", "stdout", "stderr", "channel"] as const;

/** Starts a process from this one. */
export async function spawnHere(request: SpawnRequest): Promise<SpawnedProcess> {
  const runner = startWithPipes(request);
  await new Promise<void>((resolve, reject) => {
    runner.once("spawn", resolve);
    runner.once("error", reject);
  });
  runner.on("error", () => {});
  const exit = new Promise<Exit>((resolve) => {
    runner.once("exit", (code, signal) => resolve([code, signal]));
  });
  return {
    pid: runner.pid ?? 0,
    stdin: runner.stdin as Duplex,
    stdout: runner.stdout as Duplex,
    stderr: runner.stderr as Duplex,
    channel: runner.stdio[channelFd] as Duplex,
    onExit: (listener) => void exit.then((how) => listener(...how)),
  };
}

/** A group of its own, so that it is ended as a whole, and so that Ctrl-C in the server's terminal is the server's. */
export function startWithPipes({ command, args, cwd, env }: SpawnRequest): ChildProcess {
  return spawn(command, args, { cwd, env, detached: true, stdio: pipes.map(() => "pipe" as const) });
}
