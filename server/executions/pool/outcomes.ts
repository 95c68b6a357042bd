/** The outcomes that the pool itself determines, and their messages. */
import { constants } from "node:os";
import type { Attempt, FailureReason, Outcome } from "./contract.ts";

export type Failure = Extract<Outcome, { type: "failed" }>;

export function failure(reason: FailureReason, name: string, message: string): Failure {
  return { type: "failed", error: { name, message, stack: `${name}: ${message}` }, final: false, reason };
}

export function lost(reason: string, suspect = false): Outcome {
  return { type: "lost", reason, suspect };
}

export function timedOut(attempt: Attempt): Failure {
  return failure("timeout", "TimeoutError", timeoutMessage(attempt));
}

export function timeoutMessage(attempt: Attempt): string {
  return `The ${attempt.kind} '${attempt.name}' did not finish within ${attempt.timeoutMs / 1000} s`;
}

/** The runner ended by itself. */
export function crashed(exit: string): Failure {
  return failure("crash", "CrashError", `The runner crashed (${exit})`);
}

/** The server stopped the runner because of a message. `problem` begins with `it`. */
export function violated(problem: string): Failure {
  return failure("crash", "CrashError", `The runner was stopped because ${problem}`);
}

export function outOfMemory(memoryBytes: number): Failure {
  const limit = Math.round(memoryBytes / 2 ** 20);
  return failure("memory", "MemoryError", `The runner used more memory than its limit of ${limit} MiB`);
}

/** bubblewrap reports the signal that ended the runner as an exit code from 129, as shells do. */
export function describeExit(code: number | null, signal: string | null): string {
  const name = signal ?? Object.entries(constants.signals).find(([, number]) => number + 128 === code)?.[0];
  return name === undefined ? `exit code ${code}` : `signal ${name}`;
}
