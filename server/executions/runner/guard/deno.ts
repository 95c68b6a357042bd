/**
 * Closes what Deno's permissions leave open. Deno enforces them in native code, except that forged bytecode could bypass
 * them; and Deno 2.9 checks too little for the functions here.
 */
import fs from "node:fs";
import type { Socket } from "node:net";
import { exportGuardedBuiltins } from "./builtin-modules.ts";
import { refusal, replace } from "./replace.ts";

/** @param socket - any Unix socket; null inside a sandbox, which isolates threads and Unix sockets */
export async function guardDeno(deno: object, socket: Socket | null): Promise<void> {
  // Leads to the operations behind all functions.
  const { internal } = deno as { internal?: symbol };
  if (internal !== undefined) Reflect.deleteProperty(deno, internal);
  await refuseDescriptorChanges();
  if (socket !== null) {
    refuseThreads();
    refuseUnixSockets(deno as DenoSockets, socket);
  }
  exportGuardedBuiltins();
}

/** A descriptor that was opened for reading is enough for these, so that they change files that may only be read. */
async function refuseDescriptorChanges(): Promise<void> {
  const refuse = refusal("Cannot change the mode, owner or times of an open file");
  replace(fs, ["fchmod", "fchmodSync", "fchown", "fchownSync", "futimes", "futimesSync"], refuse);
  const file = await fs.promises.open(import.meta.filename);
  replace(Object.getPrototypeOf(file), ["chmod", "chown", "utimes"], refuse);
  await file.close();
}

/** A thread would start with the original functions. */
function refuseThreads(): void {
  const refuse = refusal("Cannot start a thread: it would run without the runner's guard");
  for (const { Worker } of [globalThis, process.getBuiltinModule("node:worker_threads")]) {
    // The constructor calls that of its prototype first. Importers hold the class itself, which cannot be replaced.
    Object.setPrototypeOf(Worker, refuse);
    Object.freeze(Worker);
  }
}

interface Address {
  transport?: unknown;
  path?: unknown;
  proxy?: Address;
}

type SocketFunction = (...values: (Address | undefined)[]) => unknown;
type DenoSockets = Record<string, SocketFunction | undefined>;

/** Deno takes the name of an abstract socket for a path in the scratch folder, and so permits all of them. */
function refuseUnixSockets(deno: DenoSockets, socket: Socket): void {
  const refuse = refusal("Cannot use a Unix socket: agents and workflows may not reach local services");
  for (const name of ["connect", "listen", "serve", "createHttpClient"]) {
    const original = deno[name];
    if (original === undefined) continue;
    deno[name] = (...values) => {
      const copies = values.map((value) => (isAddress(value) ? copyOf(value) : value));
      if (copies.some((value) => isAddress(value) && isUnix(value))) refuse();
      return original.apply(deno, copies);
    };
  }
  const { _handle: handle } = socket as unknown as { _handle?: object };
  if (handle !== undefined) replace(Object.getPrototypeOf(handle), ["bind", "connect", "listen"], refuse);
}

function isAddress(value: unknown): value is Address {
  return typeof value === "object" && value !== null;
}

/** A copy cannot answer differently the second time that it is read. */
function copyOf(value: Address): Address {
  const copy = { ...value };
  if (isAddress(copy.proxy)) copy.proxy = { ...copy.proxy };
  return copy;
}

function isUnix({ transport, path, proxy }: Address): boolean {
  return transport === "unix" || path !== undefined || (proxy !== undefined && isUnix(proxy));
}
