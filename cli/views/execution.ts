import type { Attempt, Execution, ExecutionResponse } from "../../proto/svc/v1/execution_pb.ts";
import { elapsedMs, timeAndAge } from "../api/timestamps.ts";
import { stdoutColors as colors } from "../terminal/colors.ts";
import { duration } from "../terminal/format.ts";
import { prettyJson, sanitize, sanitizeLine } from "../terminal/sanitize.ts";
import { fields, paragraphs, section } from "../terminal/table.ts";
import { linesOf } from "../terminal/wrap.ts";
import { executionTree } from "./execution-tree.ts";
import { paintedStatus } from "./status.ts";

/** One execution in full. */
export async function executionText(execution: Execution): Promise<string> {
  const { attempts, error, mapping } = execution;
  const waitedMs = elapsedMs(execution.createdAt, execution.startedAt);
  const tookMs = elapsedMs(execution.startedAt, execution.finishedAt);
  // The last attempt of a failed execution is the error above.
  const showsAttempts = attempts.length > (error === undefined ? 0 : 1);
  return paragraphs([
    fields([
      ["execution", execution.executionId],
      ["status", paintedStatus(execution.status)],
      [execution.kind, execution.name],
      ["trigger", execution.trigger],
      ["parent", execution.parentExecutionId],
      ["replay of", execution.replayOf],
      ["deployment", `${execution.deploymentId} (${execution.environment})`],
      ["attempt", String(execution.attempt)],
      ["next attempt", timeAndAge(execution.dueAt)],
      ["created", timeAndAge(execution.createdAt)],
      ["waited", waitedMs === null ? "" : duration(waitedMs)],
      ["took", tookMs === null ? "" : duration(tookMs)],
    ]),
    section("Input", prettyJson(execution.input ?? {})),
    section("Mapping", mappingTrace(mapping)),
    section("Output", execution.status === "succeeded" ? prettyJson(await outputOf(execution)) : ""),
    section("Response", execution.response === undefined ? "" : responseText(execution.response)),
    section("Error", error === undefined ? "" : errorText(error)),
    section("Failed attempts", showsAttempts ? attempts.map(attemptText) : []),
    section("Child executions", executionTree(execution, 2)),
  ]);
}

/** The response that the code set, with its body as text. */
function responseText({ status, headers, body }: ExecutionResponse): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${sanitizeLine(value)}`);
  return [String(status), ...lines, ...(body === "" ? [] : ["", sanitize(body)])].join("\n");
}

/** One entry of a mapping, as both the API and the project library describe it. */
interface TraceStep {
  path: string;
  parameter: string;
  found: boolean;
  type: string | null;
  reading: string;
  because: string | null;
}

/** For each entry of a field mapping, the type of the value that it found, or why it found none. */
export function mappingTrace(steps: readonly TraceStep[]): string {
  const pathWidth = Math.max(...steps.map(({ path }) => path.length));
  const parameterWidth = Math.max(...steps.map(({ parameter }) => parameter.length));
  return steps
    .map(({ path, parameter, found, type, reading, because }) => {
      const pair = `${sanitizeLine(path).padEnd(pathWidth)} → ${sanitizeLine(parameter).padEnd(parameterWidth)}`;
      if (!found) return `${pair}  ${colors.yellow(`not mapped: ${sanitizeLine(because ?? "")}`)}`;
      return `${pair}  ${colors.dim(mappedFrom(reading, type ?? ""))}`;
    })
    .join("\n");
}

function mappedFrom(reading: string, type: string): string {
  if (reading === "key") return `${type}, property with this exact name`;
  return reading === "default" ? `${type}, default` : type;
}

/** The output of an execution as plain JSON. */
export async function outputOf({ output }: Execution): Promise<unknown> {
  if (output === undefined) return null;
  const { toJson, ValueSchema } = await import("../api/messages.ts");
  return toJson(ValueSchema, output);
}

function attemptText({ attempt, startedAt, finishedAt, error, retryAt }: Attempt): string {
  const tookMs = elapsedMs(startedAt, finishedAt);
  const reason = error === undefined ? "" : sanitizeLine(`${error.name}: ${error.message}`);
  const times = [
    tookMs === null ? "" : `after ${duration(tookMs)}`,
    retryAt === undefined ? "" : `retry at ${timeAndAge(retryAt)}`,
  ];
  const text = `${colors.red(reason)}  ${colors.dim(times.filter((each) => each !== "").join(", "))}`;
  const margin = " ".repeat(`${attempt}  `.length);
  return `${attempt}  ${linesOf(text, margin.length + 2, process.stdout).join(`\n${margin}`)}`;
}

/** The error and its stack, without the first line of the stack, which repeats name and message. */
function errorText({ name, message, stack }: { name: string; message: string; stack: string }): string {
  const repeated = [`${name}: ${message}`, name].find((start) => stack.startsWith(start)) ?? "";
  const frames = stack.slice(repeated.length).replace(/^\n+|\n+$/g, "");
  const heading = linesOf(`${name}: ${message}`, 2, process.stdout).join("\n");
  return `${colors.red(heading)}${frames === "" ? "" : `\n${colors.dim(frames)}`}`;
}
