/** Validates messages of a runner. Users' code runs in the same process and may send anything. */
import { isJsonObject, type JsonValue } from "../../../project/json.ts";
import {
  type FromRunner,
  type LogMessage,
  logLevels,
  maxSchemaBytes,
  maxSchemaDepth,
  maxViolations,
  runnerFailures,
  type SerializedError,
  type TargetSchemas,
  type Violation,
} from "../runner/protocol.ts";
import { type AttemptResponse, responseProblem } from "../runner/response.ts";
import { isJson } from "./json-check.ts";
import { parseSpan, spanId } from "./parse-span.ts";
import { enumerated, integer, object, ProtocolError, string } from "./parse-value.ts";

const maxNameLength = 256;
const maxErrorTextLength = 64 * 1024;
/** Of a path, and of a text of a violation. */
const maxPathLength = 4096;

/**
 * @param body - of one frame
 * @throws ProtocolError when it is not a JSON array
 */
export function parseFrame(body: Buffer): JsonValue[] {
  let messages: unknown;
  try {
    messages = JSON.parse(body.toString("utf8"));
  } catch {
    throw new ProtocolError("it sent a frame that is not JSON");
  }
  if (!Array.isArray(messages)) throw new ProtocolError("it sent a frame that is not an array");
  return messages as JsonValue[];
}

/** @throws ProtocolError when the message does not have the shape that `protocol.ts` defines */
export function parseMessage(value: JsonValue): FromRunner {
  const message = object(value);
  switch (message.t) {
    case "ready":
    case "drain":
      return { t: message.t };
    case "pong":
      return { t: "pong", n: integer(message.n) };
    case "done":
      return { t: "done", id: string(message.id, maxNameLength), output: string(message.output) };
    case "fail":
      return {
        t: "fail",
        id: string(message.id, maxNameLength),
        error: error(message.error),
        final: message.final === true,
        reason: enumerated(message.reason, runnerFailures),
      };
    case "log":
      if (!Array.isArray(message.entries))
        throw new ProtocolError("it sent log entries that are not an array");
      return { t: "log", entries: message.entries.map(logEntry) };
    case "respond":
      return { t: "respond", id: string(message.id, maxNameLength), response: response(message.response) };
    case "runChild":
      return {
        t: "runChild",
        id: string(message.id, maxNameLength),
        index: integer(message.index),
        name: string(message.name, maxNameLength),
        input: object(message.input),
        key: message.key === null ? null : string(message.key, maxNameLength),
        spanId: message.spanId === null ? null : spanId(message.spanId),
      };
    case "span":
      return { t: "span", id: string(message.id, maxNameLength), span: parseSpan(message.span) };
    case "loaded":
      return {
        t: "loaded",
        module: string(message.module, maxPathLength),
        error: message.error === null ? null : error(message.error),
        file: message.file === null ? null : string(message.file, maxPathLength),
        line: message.line === null ? null : integer(message.line),
        schemas: message.schemas === null ? null : schemas(message.schemas),
      };
    case "validated":
      return {
        t: "validated",
        n: integer(message.n),
        violations: message.violations === null ? null : violations(message.violations),
      };
    default:
      throw new ProtocolError("it sent a message of an unknown type");
  }
}

function logEntry(value: JsonValue): LogMessage {
  const entry = object(value);
  const { atMs, fields } = entry;
  if (typeof atMs !== "number") throw new ProtocolError("it sent a log line without a time");
  return {
    id: entry.id === null ? null : string(entry.id, maxNameLength),
    level: enumerated(entry.level, logLevels),
    text: string(entry.text),
    ...(fields !== undefined && { fields: string(fields) }),
    atMs,
  };
}

function response(value: JsonValue | undefined): AttemptResponse {
  const { status, headers, body } = object(value);
  const entries = Object.entries(object(headers)).map(([name, text]) => [name, string(text)]);
  const parsed = { status: integer(status), headers: Object.fromEntries(entries), body: string(body) };
  if (responseProblem(parsed) !== null) throw new ProtocolError("it sent an invalid response");
  return parsed;
}

function error(value: JsonValue | undefined): SerializedError {
  const { name, message, stack, violations: list } = object(value);
  return {
    name: string(name, maxErrorTextLength),
    message: string(message, maxErrorTextLength),
    stack: string(stack, maxErrorTextLength),
    ...(list !== undefined && { violations: violations(list) }),
  };
}

function violations(value: JsonValue | undefined): Violation[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxViolations) {
    throw new ProtocolError("it sent an invalid list of violations");
  }
  return value.map((entry) => {
    const { field, description } = object(entry);
    return { field: string(field, maxPathLength), description: string(description, maxPathLength) };
  });
}

function schemas(value: JsonValue | undefined): TargetSchemas {
  const { input, output } = object(value);
  return { input: schema(input), output: schema(output) };
}

function schema(value: JsonValue | undefined): string | null {
  if (value === null) return null;
  const text = string(value, maxSchemaBytes);
  if (!isJson(text, maxSchemaDepth) || !isJsonObject(JSON.parse(text))) {
    throw new ProtocolError("it sent a schema that is not a JSON object");
  }
  return text;
}
