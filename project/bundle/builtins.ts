/** The modules of Node 24 that can be imported without `node:`. The list is constant because each runtime has another. */
const builtins: ReadonlySet<string> = new Set(
  `assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns
  dns/promises domain events fs fs/promises http http2 https inspector inspector/promises module net os path path/posix
  path/win32 perf_hooks process punycode querystring readline readline/promises repl stream stream/consumers
  stream/promises stream/web string_decoder sys timers timers/promises tls trace_events tty url util util/types v8 vm wasi
  worker_threads zlib`.split(/\s+/),
);

/** Whether a specifier names a module that is built into Node. */
export function isBuiltinModule(specifier: string): boolean {
  return specifier.startsWith("node:") || builtins.has(specifier);
}

/** The form of a specifier that all runtimes accept. */
export function withNodePrefix(specifier: string): string {
  return specifier.startsWith("node:") ? specifier : `node:${specifier}`;
}
