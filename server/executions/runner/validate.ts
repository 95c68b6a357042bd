/** Checks inputs and outputs of users' code against its schemas. */

import type { Schema, SchemaIssue, SchemaResult } from "../../../project/inputs/standard-schema.ts";
import type { JsonObject } from "../../../project/json.ts";
import { maxViolations, type Violation } from "./protocol.ts";

/** An input or output violates its schema. */
export class SchemaError extends Error {
  override readonly name: string;
  readonly violations: readonly Violation[];

  constructor(what: "input" | "output", violations: readonly Violation[]) {
    const list = violations.map(({ field, description }) => `${field}: ${description}`);
    super(`The ${what} violates its schema: ${list.join("; ")}`);
    this.name = what === "input" ? "InputError" : "OutputError";
    this.violations = violations;
  }
}

/** @returns null when the value is valid */
export async function violationsOf(schema: Schema, input: JsonObject): Promise<Violation[] | null> {
  const { issues } = await validated(schema, input);
  return issues === undefined ? null : violations("input", issues);
}

/**
 * @returns the value that the schema returns
 * @throws SchemaError when the value violates the schema; otherwise any error of the schema
 */
export async function validate(schema: Schema, what: "input" | "output", value: unknown): Promise<unknown> {
  const result = await validated(schema, value);
  if (result.issues === undefined) return result.value;
  throw new SchemaError(what, violations(what, result.issues));
}

/** A promise only of schemas that are asynchronous, because each costs an execution a turn of the event loop. */
function validated(schema: Schema, value: unknown): SchemaResult<unknown> | Promise<SchemaResult<unknown>> {
  return schema["~standard"].validate(value);
}

function violations(what: string, issues: readonly SchemaIssue[]): Violation[] {
  const list = [...issues].slice(0, maxViolations).map(({ path, message }) => ({
    field: cut(fieldPath(what, path ?? []), maxFieldLength),
    description: cut(String(message), maxDescriptionLength),
  }));
  return list.length > 0 ? list : [{ field: what, description: "is invalid" }];
}

const maxFieldLength = 500;
const maxDescriptionLength = 1000;

/** For example `input.items[0].id`. */
function fieldPath(what: string, path: NonNullable<SchemaIssue["path"]>): string {
  let text = what;
  for (const segment of path) {
    const key = typeof segment === "object" ? segment.key : segment;
    if (typeof key === "number") text += `[${key}]`;
    else if (typeof key === "string" && /^[A-Za-z_$][\w$-]*$/.test(key)) text += `.${key}`;
    else text += `[${JSON.stringify(String(key))}]`;
  }
  return text;
}

function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}
