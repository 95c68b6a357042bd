/** Reads values of messages of a runner. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../project/json.ts";

/** A message that violates the protocol. The server kills the runner. The message begins with `it`, the runner. */
export class ProtocolError extends Error {
  override readonly name: string = "ProtocolError";
}

export function object(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw new ProtocolError("it sent a value that must be an object");
  return value;
}

export function string(value: JsonValue | undefined, maxLength: number = Number.POSITIVE_INFINITY): string {
  if (typeof value !== "string") throw new ProtocolError("it sent a value that must be a string");
  if (value.length > maxLength) throw new ProtocolError("it sent a string over the length limit");
  return value;
}

export function integer(value: JsonValue | undefined): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new ProtocolError("it sent a value that must be a non-negative integer");
  }
  return value as number;
}

export function enumerated<Word extends string>(value: JsonValue | undefined, words: readonly Word[]): Word {
  for (const word of words) if (word === value) return word;
  throw new ProtocolError("it sent a value that is not one of its enumeration");
}
