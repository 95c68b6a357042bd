/** Tools of the Model Context Protocol, and their results. */
import type { DescMethod } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { JsonObject, JsonValue } from "../../../project/json.ts";
import { BadRequestSchema } from "../../../proto/google/rpc/error_details_pb.ts";
import type { Session } from "../internal/calls.ts";

export interface Tool {
  name: string;
  /** For people. */
  title: string;
  /** For models. */
  description: string;
  /** JSON Schema of an object. */
  inputSchema: JsonObject;
  /** JSON Schema of `structuredContent`. Absent: results are text. */
  outputSchema?: JsonObject;
  hints: { readOnly: boolean; destructive?: boolean };
  /** The method whose scope the key needs. */
  method: DescMethod;
  /** @throws ConnectError; it becomes a result that the model can react to */
  run(session: Session, input: JsonObject, progress: Progress): Promise<JsonObject>;
}

/** Tells the client what happens meanwhile. Null when the client did not ask for it. */
export type Progress = ((message: string) => void) | null;

/** As `tools/list` shows a tool. */
export function describeTool({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  hints,
}: Tool): JsonObject {
  const { readOnly, destructive = false } = hints;
  return {
    name,
    title,
    description,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    annotations: { title, readOnlyHint: readOnly, ...(!readOnly && { destructiveHint: destructive }) },
  };
}

/** Characters of a result. A longer one would fill the context of a model. */
const maxText = 100_000;

export function textResult(text: string): JsonObject {
  return { content: [{ type: "text", text: shortened(text) }] };
}

export function jsonResult(value: JsonValue): JsonObject {
  return textResult(JSON.stringify(value));
}

/** The output of a target with a schema. */
export function structuredResult(value: JsonObject): JsonObject {
  const text = JSON.stringify(value);
  if (text.length > maxText) {
    return failure(`The output has ${text.length} characters; tools return at most ${maxText}.`);
  }
  return { content: [{ type: "text", text }], structuredContent: value };
}

export function failure(text: string): JsonObject {
  return { ...textResult(text), isError: true };
}

/** The message of an error, and the fields that it names. */
export function errorResult(error: ConnectError): JsonObject {
  const violations = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  const lines = violations
    .filter(({ description }) => !error.rawMessage.includes(description))
    .map(({ field, description }) => `- ${field}: ${description}`);
  return failure([error.rawMessage, ...lines].join("\n"));
}

function shortened(text: string): string {
  if (text.length <= maxText) return text;
  return `${text.slice(0, maxText)}\n… cut after ${maxText} of ${text.length} characters.`;
}
