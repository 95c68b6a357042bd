/**
 * What each boundary promises: the rows of the table in docs/security.md that the attempts of `package/agents` test. A
 * promise is the worst result that an attempt of the subject may have.
 */
export type Result = "absent" | "refused" | "contained" | "open";

export const results: readonly Result[] = ["absent", "refused", "contained", "open"];

/** A column of the table. bubblewrap is the same around every runtime. */
export type Boundary = "bubblewrap" | "deno" | "node" | "bun";

export interface Promises extends Readonly<Record<Boundary, Result>> {
  /** The first cell of the row. */
  row: string;
}

/** By subject, which is the name of the agent with the attempts. */
export const promises: Readonly<Record<string, Promises>> = {
  files: {
    row: "read files outside its package, its scratch folder and the modules of `svc`",
    ...{ bubblewrap: "refused", deno: "refused", node: "refused", bun: "open" },
  },
  writes: {
    row: "write files outside its scratch folder, its own package included",
    ...{ bubblewrap: "refused", deno: "refused", node: "refused", bun: "open" },
  },
  processes: {
    row: "start processes",
    ...{ bubblewrap: "refused", deno: "refused", node: "refused", bun: "open" },
  },
  threads: {
    row: "start threads",
    ...{ bubblewrap: "contained", deno: "refused", node: "refused", bun: "open" },
  },
  native: {
    row: "load native code",
    ...{ bubblewrap: "contained", deno: "refused", node: "refused", bun: "open" },
  },
  kernel: {
    row: "use system calls that JavaScript does not need",
    ...{ bubblewrap: "refused", deno: "refused", node: "absent", bun: "open" },
  },
  engine: {
    row: "change flags of the engine, run forged bytecode",
    ...{ bubblewrap: "refused", deno: "refused", node: "refused", bun: "absent" },
  },
  signals: {
    row: "signal or trace other processes",
    ...{ bubblewrap: "refused", deno: "refused", node: "refused", bun: "open" },
  },
  proc: {
    row: "read `/proc` of other processes, change settings of the kernel",
    ...{ bubblewrap: "refused", deno: "refused", node: "refused", bun: "open" },
  },
  descriptors: {
    row: "use inherited file descriptors",
    ...{ bubblewrap: "refused", deno: "refused", node: "refused", bun: "open" },
  },
  sockets: {
    row: "bind or connect to Unix sockets",
    ...{ bubblewrap: "contained", deno: "refused", node: "refused", bun: "open" },
  },
  network: {
    row: "reach loopback addresses",
    ...{ bubblewrap: "refused", deno: "refused", node: "open", bun: "open" },
  },
  environment: {
    row: "read the environment of the server",
    ...{ bubblewrap: "contained", deno: "contained", node: "contained", bun: "contained" },
  },
  neighbours: {
    row: "read the package or the scratch folder of another deployment",
    ...{ bubblewrap: "refused", deno: "refused", node: "refused", bun: "open" },
  },
  caches: {
    row: "read caches and web storage of another deployment",
    ...{ bubblewrap: "contained", deno: "contained", node: "refused", bun: "refused" },
  },
};

/**
 * Attempts that need not work without a boundary: they have a target only inside a sandbox, end the process, or need
 * privileges or features of the kernel that not every machine has.
 */
export const uncontrolled: ReadonlySet<string> = new Set([
  "processes, process.execve",
  "native, chroot() of a foreign function",
  "native, setuid(0) of a foreign function",
  "kernel, fsopen",
  "kernel, io_uring_setup",
  "kernel, kcmp",
  "kernel, keyctl",
  "kernel, open_tree",
  "kernel, socket of raw packets",
  "kernel, socket of the hypervisor",
  "kernel, userfaultfd",
  "proc, settings of the kernel",
  "proc, the control groups",
  "proc, the memory of the server",
  "proc, the file system of process 1",
  "proc, the working folder of process 1",
  "descriptors, a folder that process 1 has open",
  "network, a proxy's tunnel to a loopback address",
  "network, a proxy's tunnel to localhost",
  "network, a proxy's tunnel to an IPv4 address in IPv6",
  "network, a proxy's tunnel with a name and password",
  "network, the proxy's socket by its path",
]);
