/** Forms: `application/x-www-form-urlencoded` (WHATWG URL, section 5). */
import type { JsonObject } from "../../../project/json.ts";
import { parseJson } from "../json.ts";
import { type Content, maxFields, objectOf, refused, sealed, tooManyFields } from "./result.ts";
import { textOf } from "./text.ts";

export function readForm(body: Uint8Array, depth: number): Content {
  const text = textOf(body);
  if (text === null) return refused("The body must be UTF-8.");
  if (text.split("&", maxFields + 1).length > maxFields) return tooManyFields();
  return unwrapped(objectOf(new URLSearchParams(text)), depth);
}

/** GitHub and Slack can send JSON as the only field of a form, `payload`. */
export function unwrapped(fields: JsonObject, depth: number): Content {
  const { payload, ...others } = fields;
  if (typeof payload !== "string" || Object.keys(others).length > 0) return sealed(fields, depth);
  const parsed = parseJson(Buffer.from(payload));
  if (!parsed.ok && parsed.code === "number_inexact") return refused(parsed.message);
  if (!parsed.ok || typeof parsed.value !== "object" || parsed.value === null) return sealed(fields, depth);
  return sealed(Array.isArray(parsed.value) ? { payload: parsed.value } : parsed.value, depth);
}
