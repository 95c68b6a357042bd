import type { Attempt, Execution } from "../../proto/svc/v1/execution_pb.ts";
import { elapsedMs, moment } from "../api/timestamps.ts";
import { out } from "../terminal/colors.ts";
import { clean, cleanLine, duration, prettyJson } from "../terminal/format.ts";
import { fields, indent } from "../terminal/table.ts";
import { paintedStatus } from "./status.ts";

/** One execution as people read it. */
export async function executionText(execution: Execution): Promise<string> {
  const waitedMs = elapsedMs(execution.createdAt, execution.startedAt);
  const tookMs = elapsedMs(execution.startedAt, execution.finishedAt);
  const parts = [
    fields([
      ["execution", execution.executionId],
      ["status", paintedStatus(execution.status)],
      [execution.kind, execution.name],
      ["trigger", execution.trigger],
      ["parent", execution.parentExecutionId],
      ["replay of", execution.replayOf],
      ["deployment", `${execution.deploymentId} (${execution.environment})`],
      ["attempt", String(execution.attempt)],
      ["next attempt", moment(execution.dueAt)],
      ["created", moment(execution.createdAt)],
      ["waited", waitedMs === null ? "" : duration(waitedMs)],
      ["took", tookMs === null ? "" : duration(tookMs)],
    ]),
    section("Input", prettyJson(execution.input ?? {})),
  ];
  if (execution.mapping.length > 0) parts.push(section("Mapping", mappingTrace(execution.mapping)));
  if (execution.status === "succeeded") parts.push(section("Output", prettyJson(await outputOf(execution))));
  if (execution.error !== undefined) {
    const { name, message, stack } = execution.error;
    parts.push(
      section("Error", `${out.red(clean(`${name}: ${message}`))}${stackBelow(name, message, stack)}`),
    );
  }
  if (execution.attempts.length > 1 || (execution.attempts.length > 0 && execution.error === undefined)) {
    parts.push(section("Failed attempts", execution.attempts.map(attemptText).join("\n")));
  }
  return parts.join("\n\n");
}

/** What both the contract and the project library say of one entry of a mapping. */
interface TraceStep {
  path: string;
  parameter: string;
  found: boolean;
  type: string | null;
  reading: string;
  because: string | null;
}

/** What each entry of a field mapping found in the payload, or why it found nothing. */
export function mappingTrace(steps: readonly TraceStep[]): string {
  const path = Math.max(...steps.map((step) => step.path.length));
  const parameter = Math.max(...steps.map((step) => step.parameter.length));
  return steps
    .map((step) => {
      const head = `${cleanLine(step.path).padEnd(path)} → ${cleanLine(step.parameter).padEnd(parameter)}`;
      if (!step.found) return `${head}  ${out.yellow(`left out: ${cleanLine(step.because ?? "")}`)}`;
      return `${head}  ${out.dim(step.reading === "key" ? `${step.type}, by its whole name` : (step.type ?? ""))}`;
    })
    .join("\n");
}

function attemptText({ attempt, startedAt, finishedAt, error, retryAt }: Attempt): string {
  const tookMs = elapsedMs(startedAt, finishedAt);
  const why = error === undefined ? "" : cleanLine(`${error.name}: ${error.message}`);
  const times = [
    tookMs === null ? "" : `after ${duration(tookMs)}`,
    retryAt === undefined ? "" : `next ${moment(retryAt)}`,
  ];
  return `${attempt}  ${out.red(why)}  ${out.dim(times.filter((text) => text !== "").join(", "))}`;
}

/** What an execution returned, as plain JSON. */
export async function outputOf(execution: Execution): Promise<unknown> {
  if (execution.output === undefined) return null;
  const [{ toJson }, { ValueSchema }] = await Promise.all([
    import("@bufbuild/protobuf"),
    import("@bufbuild/protobuf/wkt"),
  ]);
  return toJson(ValueSchema, execution.output);
}

/** The frames of a stack, without the first lines, which repeat name and message. */
function stackBelow(name: string, message: string, stack: string): string {
  const repeated = [`${name}: ${message}`, name].find((start) => stack.startsWith(start)) ?? "";
  const frames = clean(stack.slice(repeated.length)).replace(/^\n+|\n+$/g, "");
  return frames === "" ? "" : `\n${out.dim(frames)}`;
}

function section(title: string, body: string): string {
  return `${out.bold(title)}\n${indent(body)}`;
}
