/**
 * bubblewrap (`bwrap`) around a runner, on Linux: user, PID, IPC, mount and UTS namespaces of its own, read-only system
 * libraries, the package read-only, a size-limited tmpfs as the scratch folder, no capabilities, no new privileges, a
 * seccomp filter, and, unless the operator opens it, a network namespace whose only exit is the egress proxy.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";

export interface SandboxMounts {
  /** Real path of the runtime's program. */
  program: string;
  /** Real paths of the files and folders that the runner may read: its package and the runner's own files. */
  readOnly: readonly string[];
  /** Where the tmpfs is mounted; the path need not exist outside. */
  scratch: string;
  scratchBytes: number;
  /** `shared` is the server's own network; otherwise a namespace whose only exit is the proxy of this folder, if any. */
  network: "shared" | { proxyFolder: string | null };
}

/** File descriptors that bubblewrap reads and writes before it starts the runner. */
export interface SandboxDescriptors {
  /** Delivers the seccomp filter; null starts the runner without one. */
  seccomp: number | null;
  /** Receives `{"child-pid": …}`: the PID, outside the sandbox, of the sandbox's first process. */
  info: number;
}

/**
 * What a runtime needs of the system: the C library, time zones, certificates, name resolution. `/usr` and `/etc` as a
 * whole would show a server's own files to its tenants where it is installed below them.
 */
const systemPaths: readonly string[] = [
  "/lib",
  "/lib64",
  "/usr/lib",
  "/usr/lib64",
  "/nix/store",
  "/usr/share/zoneinfo",
  "/usr/share/ca-certificates",
  "/etc/ca-certificates",
  "/etc/ld.so.cache",
  "/etc/localtime",
  "/etc/nsswitch.conf",
  "/etc/pki",
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/ssl",
];

/** Where the proxy's folder is mounted inside the sandbox. */
export const proxyMount = "/run/svc";

const probeTimeoutMs = 10_000;

/** No user or group of the machine: `nobody` and `nogroup` on most systems. */
const nobody = "65534";

/** The arguments of `bwrap` that start the program with `args` in a sandbox. */
export function bubblewrapArguments(
  args: readonly string[],
  mounts: SandboxMounts,
  descriptors: SandboxDescriptors,
): string[] {
  const { program, readOnly, scratch, scratchBytes, network } = mounts;
  const mounted = `/runtime/${basename(program, ".exe")}`;
  const proxyFolder = network === "shared" ? null : network.proxyFolder;
  return [
    ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(network === "shared" ? [] : ["--unshare-net"]),
    ...["--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...["--uid", nobody, "--gid", nobody, "--hostname", "runner"],
    ...["--info-fd", String(descriptors.info)],
    ...(descriptors.seccomp === null ? [] : ["--seccomp", String(descriptors.seccomp)]),
    // Writable, /proc/sys would let the runners of a server that runs as root change the kernel's settings.
    ...["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--remount-ro", "/dev"],
    ...systemPaths.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--size", String(scratchBytes), "--tmpfs", scratch],
    ...["--ro-bind", otherSpelling(program), mounted],
    ...readOnly.flatMap((path) => ["--ro-bind", path, path]),
    ...(proxyFolder === null ? [] : ["--ro-bind", proxyFolder, proxyMount]),
    ...["--remount-ro", "/", "--chdir", scratch, "--", mounted, ...args],
  ];
}

/**
 * Deno's `spawn` takes its own path among the arguments for a program to start, and inserts `run -A` after it: the runner
 * would have all permissions.
 */
function otherSpelling(program: string): string {
  return `${dirname(program)}/./${basename(program)}`;
}

/** The system path that contains a folder, if one does: bubblewrap would show the folder to every runner. */
export function exposingPath(folder: string): string | undefined {
  return systemPaths.find((path) => existsSync(path) && `${folder}/`.startsWith(`${path}/`));
}

/**
 * Starts a runtime once inside the sandbox.
 *
 * @returns why that does not work here, without a full stop; null when it works
 */
export function probeBubblewrap(bwrap: string, runtimeBinary: string): string | null {
  if (process.platform !== "linux") return "bubblewrap needs Linux";
  const mounts: SandboxMounts = {
    program: runtimeBinary,
    readOnly: [],
    scratch: "/scratch",
    scratchBytes: 1024 ** 2,
    network: { proxyFolder: null },
  };
  const args = bubblewrapArguments(["--version"], mounts, { seccomp: null, info: 2 });
  const { error, status, stderr } = spawnSync(bwrap, args, {
    env: {},
    timeout: probeTimeoutMs,
    encoding: "utf8",
  });
  if (error !== undefined) {
    const missing = "code" in error && error.code === "ENOENT";
    return missing ? "the program 'bwrap' is not installed" : `'bwrap' cannot be started: ${error.message}`;
  }
  if (status === 0) return null;
  const reason = stderr.split("\n").find((line) => line.startsWith("bwrap:")) ?? `exit status ${status}`;
  return `'bwrap' cannot create a sandbox here (${reason.replace(/^bwrap: */, "")})`;
}
