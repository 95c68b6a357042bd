import type { JsonObject } from "../../../project/json.ts";
import { findViolation, violationMessage } from "../json.ts";

/** The payload and its JSON text, or one sentence for the sender that names the violated rule. */
export type Content = { ok: true; value: JsonObject; text: string } | { ok: false; message: string };

export function refused(message: string): Content {
  return { ok: false, message };
}

/** Applies the limits of JSON to a payload. */
export function sealed(value: JsonObject, depth: number): Content {
  const violation = findViolation(value, depth);
  if (violation !== null) return refused(violationMessage(violation, depth));
  return { ok: true, value, text: JSON.stringify(value) };
}

/** More fields of a form, or parts of a multipart body, are refused. PHP has the same limit. */
export const maxFields = 1_000;

export function tooManyFields(): Content {
  return refused(`A form must have at most ${maxFields} fields.`);
}

/** An object of fields by name: the value, or a list of the values of a repeated name. `__proto__` is an ordinary name. */
export function objectOf<Value extends JsonObject | string>(fields: Iterable<[string, Value]>): JsonObject {
  const values = new Map<string, Value | Value[]>();
  for (const [name, value] of fields) {
    const same = values.get(name);
    if (same === undefined) values.set(name, value);
    else if (Array.isArray(same)) same.push(value);
    else values.set(name, [same, value]);
  }
  return Object.fromEntries(values);
}
