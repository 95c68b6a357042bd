import { RestError } from "./error.ts";

/** Node builtins that the plugin uses for files and for its own connections. */
interface Builtins {
  "node:dns/promises": typeof import("node:dns/promises");
  "node:fs": typeof import("node:fs");
  "node:fs/promises": typeof import("node:fs/promises");
  "node:http": typeof import("node:http");
  "node:https": typeof import("node:https");
  "node:net": typeof import("node:net");
  "node:path": typeof import("node:path");
  "node:stream": typeof import("node:stream");
  "node:zlib": typeof import("node:zlib");
}

/**
 * Loads a Node builtin on first use. It is not a dynamic import because bundlers for browsers follow those and fail.
 *
 * @param purpose - the action that needs it, as it reads after "Cannot"
 * @throws RestError `unsupported` in a browser or an edge runtime without the builtin
 */
export function builtin<Name extends keyof Builtins>(name: Name, purpose: string): Builtins[Name] {
  const module = globalThis.process?.getBuiltinModule?.(name);
  if (!module) throw new RestError("unsupported", `Cannot ${purpose}: this runtime has no ${name}`);
  return module as Builtins[Name];
}
