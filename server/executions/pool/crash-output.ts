/** What the runtimes print on standard error when they crash. */

const crashOutput: readonly RegExp[] = [
  // V8 and Node.
  /^<--- Last few GCs --->/,
  /^FATAL ERROR: /,
  /^----- (?:Native|JavaScript) stack trace -----/,
  /^# ?$/,
  /^# Fatal (?:error|JavaScript)/,
  /^==== C stack trace =/,
  // Deno.
  /^=+$/,
  /^Deno has panicked/,
  // Bun.
  /^Bun v\d/,
  /^oh no: Bun has crashed/,
  /^panic\(/,
];

/** Whether a line begins the runtime's own report of a crash. */
export function isCrashOutput(line: string): boolean {
  return crashOutput.some((pattern) => pattern.test(line));
}

/** @param stderr - the end of the standard error of a runner that has ended */
export function isOutOfMemory(stderr: string): boolean {
  return /heap out of memory|JavaScript out of memory|Reached heap limit/.test(stderr);
}
