/** What the runtimes print on standard error when they die. */

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

/** Whether a line begins a runtime's last message, which users' code did not write. */
export function isCrashOutput(line: string): boolean {
  return crashOutput.some((pattern) => pattern.test(line));
}

/** @param stderr - its end */
export function isOutOfMemory(stderr: string): boolean {
  return /heap out of memory|JavaScript out of memory|Reached heap limit/.test(stderr);
}
