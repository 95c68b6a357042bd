/** The outcomes that the pool itself decides, and their wording. */
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
  return `The ${attempt.kind} '${attempt.name}' did not end within ${attempt.timeoutMs / 1000} s`;
}

export function crashed(how: string): Failure {
  return failure("crash", "CrashError", `Its process ended: ${how}`);
}

export function outOfMemory(memoryBytes: number): Failure {
  const limit = Math.round(memoryBytes / 2 ** 20);
  return failure("memory", "MemoryError", `Its process used more memory than its limit of ${limit} MiB`);
}

export function describeExit(code: number | null, signal: string | null): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
