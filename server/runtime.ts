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

// ---- how a child process that runs users' code is started ---------------------------------------------------------

export interface ChildPermissions {
  /** Absolute real paths of files and folders that it may read. */
  read: readonly string[];
  /** The folder that it may write, and read. */
  scratch: string;
  /** Limit of V8's heap. Bun has none of this kind; its memory is watched from outside. */
  heapBytes: number;
  /** Where Deno keeps what it has compiled; only the runtime itself writes there, not the code that it runs. */
  cache: string;
}

export interface ChildCommand {
  command: string;
  args: string[];
  /** The whole environment of the child. */
  env: Record<string, string>;
}

/** Facts of the machine that agents may ask Deno for: what they can read, and nothing that changes a process. */
const denoSystemReads =
  "hostname,osRelease,osUptime,loadavg,networkInterfaces,systemMemoryInfo,uid,gid,cpus,homedir";

/** The command that runs `entry` in this runtime with as little as the runtime can be told to allow. */
export function childCommand(entry: string, allowed: ChildPermissions): ChildCommand {
  const heapMebibytes = Math.max(16, Math.floor(allowed.heapBytes / 2 ** 20));
  const env: Record<string, string> = {
    HOME: allowed.scratch,
    TMPDIR: allowed.scratch,
    TZ: "UTC",
    LANG: "C.UTF-8",
    NO_COLOR: "1",
  };
  if (process.platform === "win32" && process.env.SystemRoot) env.SystemRoot = process.env.SystemRoot;
  return { command: process.execPath, args: [...childArguments(), entry], env };

  function childArguments(): string[] {
    switch (runtime.name) {
      case "node":
        return [
          "--permission",
          // For the watchdog thread; the child takes it from users' code before it loads any.
          "--allow-worker",
          // Node 25 restricts the network too, where Node 24 does not know the flag.
          ...(Number.parseInt(runtime.version, 10) >= 25 ? ["--allow-net"] : []),
          ...[...allowed.read, allowed.scratch].map((path) => `--allow-fs-read=${path}`),
          `--allow-fs-write=${allowed.scratch}`,
          `--max-old-space-size=${heapMebibytes}`,
          "--disable-warning=PERM0006",
          "--disable-warning=ExperimentalWarning",
        ];
      case "bun":
        env.BUN_RUNTIME_TRANSPILER_CACHE_PATH = "0";
        return ["--no-install", "--no-env-file"];
      case "deno":
        env.DENO_DIR = allowed.cache;
        env.DENO_NO_UPDATE_CHECK = "1";
        return [
          "run",
          "--quiet",
          "--no-prompt",
          "--no-remote",
          "--no-lock",
          "--no-config",
          "--node-modules-dir=manual",
          `--allow-read=${[...allowed.read, allowed.scratch].join(",")}`,
          `--allow-write=${allowed.scratch}`,
          "--allow-env",
          "--allow-net",
          `--allow-sys=${denoSystemReads}`,
          `--v8-flags=--max-old-space-size=${heapMebibytes}`,
        ];
    }
  }
}

// ---- the child's end of the channel to its server -----------------------------------------------------------------

/** The file descriptor that the server hands to a child: a socket, open in both directions. */
export const channelFd = 3;

/** Opens the channel inside a child. */
export function openChannel(): Socket {
  // Bun's Socket ignores the option `fd` in its constructor; Node's and Deno's `connect` do not know it.
  return runtime.name === "bun"
    ? connect({ fd: channelFd } as never)
    : new Socket({ fd: channelFd, readable: true, writable: true });
}

// ---- how the one port is served -----------------------------------------------------------------------------------

/**
 * Whether an accepted socket can be handed to an HTTP/1.1 server. On Deno that fails at the second request of a
 * connection; there HTTP/1.1 is piped to a server on a loopback port.
 */
export const canHandOverHttp1: boolean = runtime.name !== "deno";

/** For people, for example `node 24.21.0`. */
export const runtimeName: string = `${runtime.name} ${runtime.version}`;

/** Whether a child process can be kept from the rest of the machine. Bun has no permission model. */
export const canRestrictChildren: boolean = runtime.name !== "bun";
