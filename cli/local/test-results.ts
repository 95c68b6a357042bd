import type { LogLine } from "../../proto/svc/v1/execution_pb.ts";
import { stdoutColors as colors, stderrColors } from "../terminal/colors.ts";
import { bytes, count, duration } from "../terminal/format.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { indent } from "../terminal/table.ts";

/** An attempt that was retried, or the last one of a failed execution. */
export interface FailedAttempt {
  /** From 1. */
  attempt: number;
  /** Name and message. */
  error: string;
}

/** The result of one test case, as printed with `--json`. */
export interface TestResult {
  name: string;
  webhook: string | null;
  /** The file of the input; null when the target was only loaded. */
  file: string | null;
  status: "succeeded" | "failed" | "loaded";
  took_ms: number;
  /** 1 without a retry; 0 when the target was only loaded. */
  attempts: number;
  failed_attempts?: FailedAttempt[];
  output?: unknown;
  /** Set with `ctx.respond`. */
  response?: { status: number; headers: Record<string, string>; body: string };
  unmapped?: string[];
  error?: { name: string; message: string; stack: string };
}

export function resultText(result: TestResult): string {
  const sign = result.status === "failed" ? colors.red("✖") : colors.green("✔");
  const label = result.webhook === null ? result.name : `${result.name}/${result.webhook}`;
  const attempts = result.attempts > 1 ? `, ${result.attempts} attempts` : "";
  const details = `${result.file}, ${duration(result.took_ms)}${attempts}`;
  // The error of a failed execution is that of its last attempt.
  const retried = (result.failed_attempts ?? []).filter(({ attempt }) => attempt < result.attempts);
  const lines = [`${sign} ${label}  ${colors.dim(details)}`];
  for (const { attempt, error } of retried) {
    lines.push(colors.yellow(`  attempt ${attempt}: ${sanitizeLine(error)}`));
  }
  if (result.response !== undefined) lines.push(colors.dim(`  ${responseText(result.response)}`));
  for (const path of result.unmapped ?? []) {
    lines.push(colors.yellow(`  ${sanitizeLine(path)} does not exist in the payload`));
  }
  if (result.error !== undefined) {
    const { name, message, stack } = result.error;
    lines.push(colors.red(indent(`${name}: ${message}`)), ...framesOf(stack));
  }
  return lines.join("\n");
}

/** A response in one line. */
export function responseText({ status, headers, body }: NonNullable<TestResult["response"]>): string {
  const type = headers["content-type"];
  const size = bytes(Buffer.byteLength(body));
  return sanitizeLine(`responds with ${status}, ${type === undefined ? "" : `${type}, `}${size}`);
}

/** The line for a target without samples. */
export function loadedText(name: string): string {
  return `${colors.dim("-")} ${name}  ${colors.dim(`loads; add samples/${name}.json to run it`)}`;
}

/** The frames of a stack, without the lines above them, which repeat name and message. */
export function framesOf(stack: string): string[] {
  return stack.split("\n").filter((line) => /^\s+at /.test(line));
}

export function logLine({ level, message, name }: LogLine): string {
  const text = message.replace(/\n+$/, "");
  return `${stderrColors.cyan(name || "process")}  ${level === "error" ? stderrColors.red(text) : text}`;
}

export function summaryText(results: readonly TestResult[], failed: number): string {
  const runs = results.filter(({ status }) => status !== "loaded").length;
  if (failed > 0) return `\n${stderrColors.red(`${failed} of ${count(runs, "run")} failed.`)}`;
  return `\n${runs === 0 ? "All modules load." : `${count(runs, "run")} succeeded.`}`;
}
