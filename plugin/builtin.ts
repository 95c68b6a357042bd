import { RestError } from "./error.ts";

/** The Node builtins that the plugin uses: only for files and for the connections that it opens itself. */
interface Builtins {
  "node:crypto": typeof import("node:crypto");
  "node:dns/promises": typeof import("node:dns/promises");
  "node:fs/promises": typeof import("node:fs/promises");
  "node:http": typeof import("node:http");
  "node:https": typeof import("node:https");
  "node:path": typeof import("node:path");
  "node:stream": typeof import("node:stream");
  "node:zlib": typeof import("node:zlib");
}

/**
 * A Node builtin, loaded when first needed. Not a dynamic import: bundlers for browsers follow those and fail.
 *
 * @param purpose - what it is for, as it reads after "Cannot"
 * @throws RestError `unsupported` in a browser or an edge runtime without it
 */
export function builtin<Name extends keyof Builtins>(name: Name, purpose: string): Builtins[Name] {
  const module = globalThis.process?.getBuiltinModule?.(name);
  if (!module) {
    throw new RestError("unsupported", `Cannot ${purpose}: this runtime has no ${name}`);
  }
  return module as Builtins[Name];
}

/** Whether the plugin can open connections by itself here. */
export function hasSockets(): boolean {
  return Boolean(globalThis.process?.getBuiltinModule?.("node:http"));
}
