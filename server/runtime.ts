/**
 * All differences between Node, Bun and Deno in the server. No other file checks which runtime it runs on.
 *
 * Runners load this file too. It must therefore import only modules of the runtime.
 */
import { connect, Socket } from "node:net";

// ---- the runtime ---------------------------------------------------------------------------------------------------

export type RuntimeName = "node" | "bun" | "deno";

export interface Runtime {
  readonly name: RuntimeName;
  /** Without a leading `v`, for example `24.21.0`. */
  readonly version: string;
}

export const runtime: Runtime = detect(process.versions);

function detect(versions: NodeJS.ProcessVersions): Runtime {
  if (versions.bun !== undefined) return { name: "bun", version: versions.bun };
  if (versions.deno !== undefined) return { name: "deno", version: versions.deno };
  return { name: "node", version: versions.node };
}

// ---- starting a runner, and its restrictions -----------------------------------------------------------------------

interface Enforcement {
  /** It can read only its package and its scratch folder, and write only its scratch folder. */
  files: boolean;
  /** It cannot start processes. */
  spawning: boolean;
  /** It cannot signal processes, even with internal functions of its own process. */
  signals: boolean;
  /** The engine limits its heap. The server limits all other memory. */
  heap: boolean;
}

/** The restrictions that each runtime enforces on a runner. The runner's guard and the server's monitor add others. */
const enforcement: Readonly<Record<RuntimeName, Enforcement>> = {
  node: { files: true, spawning: true, signals: false, heap: true },
  bun: { files: false, spawning: false, signals: false, heap: false },
  deno: { files: true, spawning: true, signals: true, heap: true },
};

export interface RunnerPermissions {
  /** Absolute real paths of readable files and folders. */
  read: readonly string[];
  /** The folder that it may read and write. */
  scratch: string;
  /** The limit of V8's heap. */
  heapBytes: number;
  /** Deno's compilation cache. Only the runtime writes there, and not the code that it runs. */
  cache: string;
}

export interface RunnerCommand {
  command: string;
  args: string[];
  /** The complete environment of the runner. */
  env: Record<string, string>;
}

/** Returns the command that runs `entry` on this runtime with the fewest permissions that the runtime supports. */
export function runnerCommand(entry: string, allowed: RunnerPermissions): RunnerCommand {
  const { args, env } = runnerSettings[runtime.name](allowed);
  return {
    command: process.execPath,
    args: [...args, entry],
    env: {
      HOME: allowed.scratch,
      TMPDIR: allowed.scratch,
      TZ: "UTC",
      LANG: "C.UTF-8",
      NO_COLOR: "1",
      ...env,
    },
  };
}

type RunnerSettings = (allowed: RunnerPermissions) => { args: string[]; env: Record<string, string> };

const runnerSettings: Record<RuntimeName, RunnerSettings> = {
  node: ({ read, scratch, heapBytes }) => ({
    args: [
      "--permission",
      // For the watchdog thread. The guard removes threads before users' code is loaded.
      "--allow-worker",
      // Node 25 restricts the network too. Node 24 does not know the flag.
      ...(Number.parseInt(runtime.version, 10) >= 25 ? ["--allow-net"] : []),
      ...[...read, scratch].map((path) => `--allow-fs-read=${path}`),
      `--allow-fs-write=${scratch}`,
      // SQLite ignores the permission model, and could open the server's database.
      "--no-experimental-sqlite",
      `--max-old-space-size=${mebibytes(heapBytes)}`,
      "--disable-warning=PERM0006",
      "--disable-warning=ExperimentalWarning",
    ],
    env: {},
  }),
  bun: () => ({
    args: ["--no-install", "--no-env-file"],
    env: { BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
  }),
  deno: ({ read, scratch, heapBytes, cache }) => ({
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-remote",
      "--no-lock",
      "--no-config",
      "--node-modules-dir=manual",
      `--allow-read=${denoList([...read, scratch])}`,
      `--allow-write=${denoList([scratch])}`,
      "--allow-env",
      "--allow-net",
      `--allow-sys=${denoSystemReads.join(",")}`,
      `--v8-flags=--max-old-space-size=${mebibytes(heapBytes)}`,
    ],
    env: { DENO_DIR: cache, DENO_NO_UPDATE_CHECK: "1" },
  }),
};

/** System information that Deno may return. It excludes functions that change a process. */
const denoSystemReads: readonly string[] = [
  "hostname",
  "osRelease",
  "osUptime",
  "loadavg",
  "networkInterfaces",
  "systemMemoryInfo",
  "uid",
  "gid",
  "cpus",
  "homedir",
];

/** @throws Error for a path that Deno's options cannot express */
function denoList(paths: readonly string[]): string {
  if (paths.some((path) => path.includes(","))) {
    throw new Error(
      "Cannot start a process on Deno with a comma in the path of the data folder, the package or svc",
    );
  }
  return paths.join(",");
}

function mebibytes(bytes: number): number {
  return Math.max(16, Math.floor(bytes / 2 ** 20));
}

// ---- inside a runner -----------------------------------------------------------------------------------------------

/** The file descriptor of the bidirectional socket between the server and a runner. */
export const channelFd = 3;

/** Opens the channel inside a runner. */
export function openChannel(): Socket {
  // Bun's Socket ignores the option `fd` in its constructor; Node's and Deno's `connect` do not know it.
  return runtime.name === "bun"
    ? connect({ fd: channelFd } as never)
    : new Socket({ fd: channelFd, readable: true, writable: true });
}

/** Whether a thread could bypass the guard, because the runtime does not enforce the same restrictions. */
export const threadsBreakGuard: boolean =
  enforcement[runtime.name].files && !enforcement[runtime.name].signals;

/** Whether an uncaught error of a timer is handled in the asynchronous context of the timer. */
export const timerErrorsKeepContext: boolean = runtime.name !== "deno";

// ---- the HTTP port -------------------------------------------------------------------------------------------------

/**
 * How an HTTP/1.1 connection gets to the HTTP/1.1 server.
 *
 * - `self`: the HTTP/1.1 server accepts all connections, and HTTP/2 connections are taken from it. Node's timeouts for
 *   slow senders work only on a server that listens.
 * - `emit`: a `net` server accepts, and emits `connection` on the HTTP/1.1 server. Bun's HTTP server cannot pass on a
 *   connection that it accepted.
 * - `loopback`: a `net` server accepts, and pipes to an HTTP/1.1 server on a loopback port. On Deno, `emit` fails at the
 *   second request of a connection.
 */
export const http1Handover: "self" | "emit" | "loopback" = (
  { node: "self", bun: "emit", deno: "loopback" } as const
)[runtime.name];

/** For display, for example `node 24.21.0`. */
export const runtimeName: string = `${runtime.name} ${runtime.version}`;

/** Whether the runtime can isolate runners from each other. Bun has no permission model. */
export const canRestrictRunners: boolean = enforcement[runtime.name].files;
