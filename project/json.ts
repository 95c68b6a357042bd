/** A JSON value, as `JSON.parse` returns it. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object. Its keys are data: `__proto__` and `constructor` are ordinary own properties. */
export type JsonObject = { [key: string]: JsonValue };

/** Whether a value is a JSON object, and not an array, a scalar or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
