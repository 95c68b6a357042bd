/** The payload of a webhook with `raw: true`: `{ headers, query, body }`. */
import type { JsonObject } from "../../../project/json.ts";
import { maxFields, objectOf } from "./result.ts";
import { textOf } from "./text.ts";

/**
 * The body is text, or base64 with `body_is_base64: true` when it is not UTF-8.
 *
 * @param headers - without credentials
 */
export function rawPayload(
  headers: Readonly<Record<string, string>>,
  url: string,
  body: Uint8Array,
): { value: JsonObject; text: string } {
  const text = textOf(body);
  const value: JsonObject = {
    headers: { ...headers },
    query: queryOf(url),
    ...(text === null
      ? { body: Buffer.from(body).toString("base64"), body_is_base64: true }
      : { body: text }),
  };
  return { value, text: JSON.stringify(value) };
}

/** The parameters of the query by name; a repeated name has a list. Parameters over the limit are dropped. */
export function queryOf(url: string): JsonObject {
  const at = url.indexOf("?");
  if (at < 0) return {};
  return objectOf([...new URLSearchParams(url.slice(at + 1))].slice(0, maxFields));
}
