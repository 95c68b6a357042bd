/** Starts the operating system's process of a runner inside its boundary. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { HostPattern } from "../../../project/hosts.ts";
import { channelFd } from "../../runtime.ts";
import { egressPort, egressVariable } from "../runner/guard/egress.ts";
import { AddressPolicy } from "../sandbox/addresses.ts";
import type { Boundary } from "../sandbox/boundary.ts";
import { bubblewrapArguments, proxyMount } from "../sandbox/bubblewrap.ts";
import { startEgressProxy } from "../sandbox/egress-proxy.ts";
import { type RunnerCommand, runtimeCommand } from "../sandbox/runtime-command.ts";
import { seccompFilter } from "../sandbox/seccomp.ts";
import { fileTableBytes, residentBytes } from "./memory.ts";
import { unwatchGroup, watchGroup } from "./watchdog.ts";

export interface StartOptions {
  boundary: Boundary;
  /** The unpacked package, as a real path. */
  directory: string;
  /** Real paths outside the package that its code needs to read. */
  provided: readonly string[];
  /** Hosts of the project's `network` key; null allows every host. */
  hosts: readonly HostPattern[] | null;
  /** A folder for this process only, unless the boundary provides one. Created here, removed by `release`. */
  scratch: string;
  /** The limit of V8's heap. */
  heapBytes: number;
  /** The URL of the API of OpenTelemetry; null without tracing. */
  tracing: string | null;
}

export interface StartedProcess {
  /** The leader of a process group, which ends with it. */
  child: ChildProcess;
  /** Bytes of memory that the process of users' code occupies; null when they are not known. */
  usedBytes(): Promise<number | null>;
  /** Removes everything that was created for the process, after it has ended. */
  release(): Promise<void>;
}

const runnerFolder = join(dirname(fileURLToPath(import.meta.url)), "..", "runner");
const extension = extname(fileURLToPath(import.meta.url));

/** Source files of the server that a runner loads. In the built package, the runner is one file. */
const ownFiles = [runnerFolder, join(runnerFolder, "..", "..", `runtime${extension}`)].filter(existsSync);

/** @throws Error when the operating system cannot start the process */
export async function startProcess(options: StartOptions): Promise<StartedProcess> {
  const own = await Promise.all(ownFiles.map((path) => realpath(path)));
  const read = [options.directory, ...options.provided, ...own];
  const entry = await realpath(join(runnerFolder, `main${extension}`));
  const { bwrap } = options.boundary;
  return bwrap === null ? startDirectly(options, entry, read) : startInSandbox(bwrap, options, entry, read);
}

async function startDirectly(options: StartOptions, entry: string, read: string[]): Promise<StartedProcess> {
  const { boundary, hosts, heapBytes } = options;
  await mkdir(options.scratch, { recursive: true });
  const scratch = await realpath(options.scratch);
  const command = runtimeCommand(boundary, entry, { read, scratch, heapBytes, hosts, socket: null });
  const child = await spawnGroup(command, scratch, channelFd + 1);
  const pid = child.pid ?? 0;
  watchGroup(pid);
  child.once("exit", () => unwatchGroup(pid));
  preferForOutOfMemory(pid);
  return {
    child,
    usedBytes: () => residentBytes(pid),
    release: () => rm(scratch, { recursive: true, force: true, maxRetries: 3 }).catch(() => {}),
  };
}

/** File descriptors of bubblewrap after those of the runner. */
const seccompFd = channelFd + 1;
const infoFd = channelFd + 2;

/** The scratch folder inside the sandbox. */
const sandboxScratch = "/scratch";
const socketName = "egress";

async function startInSandbox(
  bwrap: string,
  options: StartOptions,
  entry: string,
  read: string[],
): Promise<StartedProcess> {
  const { boundary, hosts, heapBytes } = options;
  const exit = boundary.network === "all" ? null : await openExit(options.scratch, boundary.network, hosts);
  const socket = exit === null ? null : join(proxyMount, socketName);
  const inner = runtimeCommand(boundary, entry, { read, scratch: sandboxScratch, heapBytes, hosts, socket });
  const filter = seccompFilter();
  const args = bubblewrapArguments(
    inner.args,
    {
      program: boundary.binary,
      readOnly: read,
      scratch: sandboxScratch,
      scratchBytes: boundary.scratchBytes,
      network: exit === null ? "shared" : { proxyFolder: exit.folder },
    },
    { seccomp: filter === null ? null : seccompFd, info: infoFd },
  );
  const env = { ...inner.env, ...(socket !== null && egressEnvironment(socket)) };
  try {
    const child = await spawnGroup({ command: bwrap, args, env }, tmpdir(), infoFd + 1);
    const seccomp = child.stdio[seccompFd] as Writable;
    seccomp.on("error", () => {});
    seccomp.end(filter);
    const runnerPid = findRunner(child.stdio[infoFd] as Readable);
    return {
      child,
      async usedBytes() {
        const pid = runnerPid();
        const bytes = pid === null ? null : await residentBytes(pid);
        return bytes === null ? null : bytes + fileTableBytes(`/proc/${pid}/root${sandboxScratch}`);
      },
      release: async () => exit?.close(),
    };
  } catch (error) {
    await exit?.close();
    throw error;
  }
}

/** The variables by which all three runtimes, and most HTTP clients, find a proxy. */
function egressEnvironment(socket: string): Record<string, string> {
  const url = `http://127.0.0.1:${egressPort}`;
  return {
    [egressVariable]: socket,
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    http_proxy: url,
    https_proxy: url,
    NODE_USE_ENV_PROXY: "1",
  };
}

/** The operating system's limit for the path of a Unix socket. Linux allows 107 bytes, and macOS 103. */
const maxSocketPathBytes = 103;

/** @param scratch - a folder of this runner only, which does not exist */
async function openExit(
  scratch: string,
  opened: readonly string[],
  hosts: readonly HostPattern[] | null,
): Promise<{ folder: string; close(): Promise<void> }> {
  const folder = await socketFolder(scratch);
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true }).catch(() => {});
  try {
    const policy = { addresses: new AddressPolicy(opened), hosts };
    const proxy = await startEgressProxy(join(folder, socketName), policy);
    return {
      folder,
      close() {
        proxy.close();
        return remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The scratch folder, which the next server removes after a crash, unless its path is too long for a socket. */
async function socketFolder(scratch: string): Promise<string> {
  await mkdir(scratch, { recursive: true });
  const folder = await realpath(scratch);
  if (Buffer.byteLength(join(folder, socketName)) <= maxSocketPathBytes) return folder;
  await rm(folder, { recursive: true });
  return realpath(await mkdtemp(join(tmpdir(), "svc-egress-")));
}

/** bubblewrap reports the first process of the sandbox, which starts the runner as its only child. */
function findRunner(info: Readable): () => number | null {
  let text = "";
  let found: number | null = null;
  info.setEncoding("utf8");
  info.on("error", () => {});
  info.on("data", (chunk: string) => {
    text = (text + chunk).slice(0, 1024);
  });
  return () => {
    const first = /"child-pid": *(\d+)/.exec(text)?.[1];
    if (found !== null || first === undefined) return found;
    try {
      const children = readFileSync(`/proc/${first}/task/${first}/children`, "latin1");
      found = Number.parseInt(children, 10) || null;
      if (found !== null) preferForOutOfMemory(found);
    } catch {
      // It has ended.
    }
    return found;
  };
}

/** When the machine runs out of memory, Linux should kill a runner before the server. */
function preferForOutOfMemory(pid: number): void {
  void writeFile(`/proc/${pid}/oom_score_adj`, "1000").catch(() => {});
}

async function spawnGroup(
  { command, args, env }: RunnerCommand,
  cwd: string,
  pipes: number,
): Promise<ChildProcess> {
  const stdio = Array.from({ length: pipes }, () => "pipe" as const);
  // Detached: a process group can be killed as a whole, and Ctrl-C in the server's terminal does not reach it.
  const child = spawn(command, args, { cwd, env, detached: true, stdio });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  child.on("error", () => {});
  return child;
}
