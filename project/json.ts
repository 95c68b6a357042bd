/** A JSON value, as `JSON.parse` returns it. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object. Its keys are data: `__proto__` and `constructor` are ordinary own properties. */
export type JsonObject = { [key: string]: JsonValue };

/** Whether a value is a JSON object, and not an array, a scalar or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value of a YAML file is JSON: no dates, and no numbers that JSON cannot represent. */
export function isJson(value: unknown): value is JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "string") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value !== "object") return false;
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson);
}
