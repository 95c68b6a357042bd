/** The modules built into Node 24 that can be imported without `node:`. Each runtime's own list differs. */
const builtins: ReadonlySet<string> = new Set([
  ...["assert", "assert/strict", "async_hooks", "buffer", "child_process", "cluster", "console", "constants"],
  ...[
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "dns/promises",
    "domain",
    "events",
    "fs",
    "fs/promises",
  ],
  ...[
    "http",
    "http2",
    "https",
    "inspector",
    "inspector/promises",
    "module",
    "net",
    "os",
    "path",
    "path/posix",
  ],
  ...[
    "path/win32",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "readline/promises",
    "repl",
  ],
  ...["stream", "stream/consumers", "stream/promises", "stream/web", "string_decoder", "sys", "timers"],
  ...["timers/promises", "tls", "trace_events", "tty", "url", "util", "util/types", "v8", "vm", "wasi"],
  ...["worker_threads", "zlib"],
]);

/** Whether a specifier names a module that is built into Node, and so into Bun and Deno as far as they have it. */
export function isBuiltinModule(specifier: string): boolean {
  return specifier.startsWith("node:") || builtins.has(specifier);
}

/** The form that all runtimes understand everywhere. */
export function withNodePrefix(specifier: string): string {
  return specifier.startsWith("node:") ? specifier : `node:${specifier}`;
}
