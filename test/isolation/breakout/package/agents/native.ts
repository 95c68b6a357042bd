import path from "node:path";
import { type Agent, type Attempt, absent, deno, libc, onBun, read, subject, syscall } from "../attempts.ts";

const library =
  process.arch === "x64" ? "/lib/x86_64-linux-gnu/libc.so.6" : "/lib/aarch64-linux-gnu/libc.so.6";

export const attempts: Record<string, Attempt> = {
  "process.dlopen": () => loaded(() => process.dlopen({ exports: {} } as never, library)),
  "an OpenSSL engine": async () => {
    absent(onBun);
    const { setEngine } = await import("node:crypto");
    absent(setEngine === undefined);
    return loaded(() => setEngine(library));
  },
  "an OpenSSL engine of a TLS context": async () => {
    absent(onBun || process.versions.deno !== undefined);
    const { createSecureContext } = await import("node:tls");
    return loaded(() => createSecureContext({ clientCertEngine: library }));
  },
  "a foreign function": () => String(libc("getpid")),
  "open() of a foreign function": ({ outside }) => {
    const file = syscall("open", `${outside}/secret`, 0);
    return read(`/proc/self/fd/${file}`);
  },
  "link() of a foreign function": ({ outside }) => {
    syscall("link", `${outside}/secret`, `${outside}/linked`);
    return "linked";
  },
  "setuid(0) of a foreign function": ({ outside }) => {
    syscall("setuid", 0);
    return read(`${outside}/secret`);
  },
  "a C compiler": () => {
    const { cc } = (process.getBuiltinModule("bun:ffi" as never) ?? {}) as unknown as {
      cc?(options: object): { symbols: Record<string, () => number> };
    };
    const source = path.join(import.meta.dirname, "../answer.c");
    absent(cc === undefined);
    return `${cc?.({ source, symbols: { answer: { returns: "i32", args: [] } } }).symbols.answer?.()}`;
  },
  "Deno.dlopen": () => {
    deno<(path: string, symbols: object) => unknown>("dlopen")(library, {});
    return "loaded";
  },
  "a pointer of Deno": () => {
    deno<{ of(bytes: Uint8Array): unknown }>("UnsafePointer").of(new Uint8Array(8));
    return "pointer";
  },
  "chroot() of a foreign function": () => {
    syscall("chroot", "/");
    return "TOP SECRET";
  },
};

/** Whether the library was loaded: it is neither a module nor an engine, which only a loaded library can show. */
function loaded(load: () => void): string {
  try {
    load();
  } catch (error) {
    if (!/napi_register_module|self-register|Node-API module|was not found|DSO support/.test(String(error)))
      throw error;
  }
  return "loaded";
}

const agent: Agent = subject(attempts);
export default agent;
