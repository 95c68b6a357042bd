/** The command that starts a program on a runtime with the fewest permissions that the runtime supports. */

import type { HostPattern } from "../../../project/hosts.ts";
import type { RuntimeName } from "../../runtime.ts";
import type { Boundary } from "./boundary.ts";
import { denoNetworkFlags } from "./deno-network.ts";

export interface RunnerPermissions {
  /** Absolute real paths of readable files and folders. */
  read: readonly string[];
  /** The folder that it may read and write. */
  scratch: string;
  /** The limit of V8's heap. */
  heapBytes: number;
  /** Hosts of the project's `network` key; null allows every host. */
  hosts: readonly HostPattern[] | null;
  /** A Unix socket that it may connect to; null for none. */
  socket: string | null;
}

export interface RunnerCommand {
  command: string;
  args: string[];
  /** The complete environment of the runner. */
  env: Record<string, string>;
}

/** @throws Error for a path that the runtime's options cannot express */
export function runtimeCommand(boundary: Boundary, entry: string, allowed: RunnerPermissions): RunnerCommand {
  const { args, env } = settings[boundary.runtime](allowed, boundary);
  return {
    command: boundary.binary,
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

type Settings = (
  allowed: RunnerPermissions,
  boundary: Boundary,
) => { args: string[]; env: Record<string, string> };

const settings: Record<RuntimeName, Settings> = {
  node: ({ read, scratch, heapBytes }, { version }) => ({
    args: [
      "--permission",
      // Node 25 restricts the network too. Node 24 does not know the flag.
      ...(Number.parseInt(version, 10) >= 25 ? ["--allow-net"] : []),
      ...[...read, scratch].map((path) => `--allow-fs-read=${path}`),
      `--allow-fs-write=${scratch}`,
      // SQLite ignores the permission model, and could open the server's database.
      "--no-experimental-sqlite",
      `--max-old-space-size=${mebibytes(heapBytes)}`,
      // V8's flags switch off checks and write files: `v8.setFlagsFromString` aborts the process from then on.
      "--freeze-flags-after-init",
      "--disable-warning=PERM0006",
      "--disable-warning=ExperimentalWarning",
    ],
    env: {},
  }),
  bun: () => ({
    args: ["--no-install", "--no-env-file"],
    env: { BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
  }),
  deno: ({ read, scratch, heapBytes, hosts, socket }, { bwrap, network }) => ({
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-remote",
      "--no-lock",
      "--no-config",
      // The cache would be in the scratch folder. V8 runs it without verifying it, and users' code could forge it.
      "--no-code-cache",
      "--node-modules-dir=manual",
      `--allow-read=${denoList([...read, scratch, ...(socket === null ? [] : [socket])])}`,
      `--allow-write=${denoList([scratch, ...(socket === null ? [] : [socket])])}`,
      "--allow-env",
      // Inside bubblewrap the network namespace and its proxy restrict the network.
      ...(bwrap === null ? denoNetworkFlags(network, hosts) : ["--allow-net"]),
      `--allow-sys=${denoSystemReads.join(",")}`,
      `--v8-flags=--max-old-space-size=${mebibytes(heapBytes)}`,
    ],
    // Caches, and the storage of web APIs, belong to this runner alone.
    env: { DENO_DIR: `${scratch}/.deno`, DENO_NO_UPDATE_CHECK: "1" },
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
  const problem = paths.find((path) => path.includes(","));
  if (problem !== undefined) {
    throw new Error(
      `Cannot start a runner on Deno: its paths must not contain a comma, and '${problem}' does`,
    );
  }
  return paths.join(",");
}

function mebibytes(bytes: number): number {
  return Math.max(16, Math.floor(bytes / 2 ** 20));
}
