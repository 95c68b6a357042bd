/** Reads what a runner sent. Users' code shares the runner's process and may send anything. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../project/json.ts";
import {
  type ErrorMessage,
  type FromRunner,
  type LogMessage,
  logLevels,
  runnerFailures,
} from "../runner/protocol.ts";

/** Thrown for what is no message; ends the runner. */
export class ProtocolError extends Error {
  override readonly name: string = "ProtocolError";
}

const maxNameLength = 256;
const maxErrorTextLength = 64 * 1024;

/**
 * @param body - of one frame
 * @throws ProtocolError when it is no JSON array of objects
 */
export function parseFrame(body: Buffer): JsonValue[] {
  let messages: unknown;
  try {
    messages = JSON.parse(body.toString("utf8"));
  } catch {
    throw new ProtocolError("it sent a frame that is not JSON");
  }
  if (!Array.isArray(messages)) throw new ProtocolError("it sent a frame that is no array");
  return messages as JsonValue[];
}

/** @throws ProtocolError when a message has not the shape that `protocol.ts` gives it */
export function parseMessage(value: JsonValue): FromRunner {
  const message = object(value);
  switch (message.t) {
    case "ready":
    case "drain":
      return { t: message.t };
    case "pong":
      return { t: "pong", n: whole(message.n) };
    case "done":
      return { t: "done", id: string(message.id, maxNameLength), output: string(message.output) };
    case "fail":
      return {
        t: "fail",
        id: string(message.id, maxNameLength),
        error: error(message.error),
        final: message.final === true,
        reason: oneOf(message.reason, runnerFailures),
      };
    case "log":
      if (!Array.isArray(message.entries)) throw new ProtocolError("it sent a log that is no array");
      return { t: "log", entries: message.entries.map(logEntry) };
    case "runChild":
      return {
        t: "runChild",
        id: string(message.id, maxNameLength),
        index: whole(message.index),
        name: string(message.name, maxNameLength),
        input: object(message.input),
        key: message.key === null ? null : string(message.key, maxNameLength),
      };
    case "loaded":
      return {
        t: "loaded",
        module: string(message.module, 4096),
        error: message.error === null ? null : error(message.error),
        file: message.file === null ? null : string(message.file, 4096),
        line: message.line === null ? null : whole(message.line),
      };
    default:
      throw new ProtocolError("it sent a message of no known type");
  }
}

function logEntry(value: JsonValue): LogMessage {
  const entry = object(value);
  const { atMs } = entry;
  if (typeof atMs !== "number") throw new ProtocolError("it sent a log line without a time");
  return {
    id: entry.id === null ? null : string(entry.id, maxNameLength),
    level: oneOf(entry.level, logLevels),
    text: string(entry.text),
    atMs,
  };
}

function error(value: JsonValue | undefined): ErrorMessage {
  const { name, message, stack } = object(value);
  return {
    name: string(name, maxErrorTextLength),
    message: string(message, maxErrorTextLength),
    stack: string(stack, maxErrorTextLength),
  };
}

function object(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw new ProtocolError("it sent a value that is no object where one belongs");
  return value;
}

function string(value: JsonValue | undefined, maxLength: number = Number.POSITIVE_INFINITY): string {
  if (typeof value !== "string")
    throw new ProtocolError("it sent a value that is no string where one belongs");
  if (value.length > maxLength)
    throw new ProtocolError("it sent a string that is longer than any it may send");
  return value;
}

function whole(value: JsonValue | undefined): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new ProtocolError("it sent a value that is no whole number where one belongs");
  }
  return value as number;
}

function oneOf<Word extends string>(value: JsonValue | undefined, words: readonly Word[]): Word {
  for (const word of words) if (word === value) return word;
  throw new ProtocolError("it sent a word that does not exist");
}
