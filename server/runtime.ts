/**
 * Everything in which Node, Bun and Deno differ for the server. Nothing else asks which runtime it is.
 *
 * The child process that runs users' code loads this file too, so that it imports nothing but the runtime's own
 * modules.
 */
import { connect, Socket } from "node:net";

// ---- which runtime this is --------------------------------------------------------------------------------------

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

// ---- how a child process that runs users' code is started, and what it cannot do ----------------------------------

interface Enforcement {
  /** It reads its package and scratch folder, and writes its scratch folder, and no other file. */
  files: boolean;
  /** It starts no process. */
  spawning: boolean;
  /** It signals no process, whatever its code finds inside its own process. */
  signals: boolean;
  /** V8 ends it when its heap is full; for the others, and for memory outside of the heap, its server does. */
  heap: boolean;
}

/** What each runtime itself enforces on a child; the rest is the child's own guard, and the server's watch. */
const enforcement: Readonly<Record<RuntimeName, Enforcement>> = {
  node: { files: true, spawning: true, signals: false, heap: true },
  bun: { files: false, spawning: false, signals: false, heap: false },
  deno: { files: true, spawning: true, signals: true, heap: true },
};

export interface RunnerPermissions {
  /** Absolute real paths of files and folders that it may read. */
  read: readonly string[];
  /** The folder that it may write, and read. */
  scratch: string;
  /** Limit of V8's heap. */
  heapBytes: number;
  /** Where Deno keeps what it has compiled; only the runtime itself writes there, not the code that it runs. */
  cache: string;
}

export interface RunnerCommand {
  command: string;
  args: string[];
  /** The whole environment of the child. */
  env: Record<string, string>;
}

/** The command that runs `entry` in this runtime with as little as the runtime can be told to allow. */
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
      // For the watchdog thread; the child takes threads from users' code before it loads any.
      "--allow-worker",
      // Node 25 restricts the network too, where Node 24 does not know the flag.
      ...(Number.parseInt(runtime.version, 10) >= 25 ? ["--allow-net"] : []),
      ...[...read, scratch].map((path) => `--allow-fs-read=${path}`),
      `--allow-fs-write=${scratch}`,
      // SQLite opens files without asking the permission model: the server's own database among them.
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

/** Facts of the machine that code may ask Deno for: what can be read, and nothing that changes a process. */
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

/** @throws Error for a path that Deno cannot be told */
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

// ---- inside a child -------------------------------------------------------------------------------------------------

/** The file descriptor that the server hands to a child: a socket, open in both directions. */
export const channelFd = 3;

/** Opens the channel inside a child. */
export function openChannel(): Socket {
  // Bun's Socket ignores the option `fd` in its constructor; Node's and Deno's `connect` do not know it.
  return runtime.name === "bun"
    ? connect({ fd: channelFd } as never)
    : new Socket({ fd: channelFd, readable: true, writable: true });
}

/** Whether a thread could do what the child's guard took from the main thread, and the runtime does not forbid it. */
export const threadsBreakGuard: boolean =
  enforcement[runtime.name].files && !enforcement[runtime.name].signals;

/** Whether an error that a timer throws is handled in the asynchronous context in which the timer was set. */
export const timerErrorsKeepContext: boolean = runtime.name !== "deno";

// ---- how the one port is served -----------------------------------------------------------------------------------

/**
 * How a connection that turned out to speak HTTP/1.1 gets to the HTTP/1.1 server.
 *
 * - `self`: that server accepts the connections itself, and only those of HTTP/2 are taken from it. Node's timeouts for
 *   slow senders run on a server that listens, and on no other.
 * - `emit`: a plain server accepts, and emits `connection` on the HTTP/1.1 server. Bun's server does not let go of what
 *   it accepted.
 * - `loopback`: a plain server accepts, and pipes to an HTTP/1.1 server on a loopback port. On Deno, emitting fails at
 *   the second request of a connection.
 */
export const http1Handover: "self" | "emit" | "loopback" = (
  { node: "self", bun: "emit", deno: "loopback" } as const
)[runtime.name];

/** For people, for example `node 24.21.0`. */
export const runtimeName: string = `${runtime.name} ${runtime.version}`;

/** Whether a child process can be kept from the rest of the machine. Bun has no permission model. */
export const canRestrictRunners: boolean = enforcement[runtime.name].files;
