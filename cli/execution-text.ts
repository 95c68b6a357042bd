import type { Execution } from "../proto/svc/v1/execution_pb.ts";
import { paintedStatus } from "./status-words.ts";
import { out } from "./style.ts";
import { fields, indent } from "./table.ts";
import { clean, cleanLine, duration, prettyJson } from "./text.ts";
import { elapsedMs, moment } from "./times.ts";

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
      ["deployment", `${execution.deploymentId} (${execution.environment})`],
      ["attempt", String(execution.attempt)],
      ["created", moment(execution.createdAt)],
      ["waited", waitedMs === null ? "" : duration(waitedMs)],
      ["took", tookMs === null ? "" : duration(tookMs)],
    ]),
    section("Input", prettyJson(execution.input ?? {})),
  ];
  if (execution.unmapped.length > 0) {
    parts.push(section("Not in the payload", execution.unmapped.map(cleanLine).join("\n")));
  }
  if (execution.status === "succeeded") parts.push(section("Output", prettyJson(await outputOf(execution))));
  if (execution.error !== undefined) {
    const { name, message, stack } = execution.error;
    parts.push(
      section("Error", `${out.red(clean(`${name}: ${message}`))}${stackBelow(name, message, stack)}`),
    );
  }
  return parts.join("\n\n");
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
