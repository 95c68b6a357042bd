/** Applies the limits of a webhook body to a JSON object that was received as a message field. */
import type { JsonObject, JsonValue } from "../../project/json.ts";
import type { Limits } from "../config/limits.ts";
import { fail } from "../errors.ts";
import { findViolation, roundedMessage, violationMessage } from "./json.ts";
import type { Payload } from "./trigger.ts";

/**
 * @param exact - whether the numbers were checked in the text of the message
 * @throws ConnectError when the object is nested too deep, holds a number beyond doubles, or is too large as JSON
 */
export function encodePayload(value: JsonObject, limits: Limits, exact: boolean): Payload {
  const violation = findViolation(value, limits.jsonDepth);
  if (violation !== null) {
    const reason = violation === "too_deep" ? "JSON_TOO_DEEP" : "NUMBER_OUT_OF_RANGE";
    throw fail(reason, violationMessage(violation, limits.jsonDepth));
  }
  const rounded = exact ? null : roundedPath(value);
  if (rounded !== null) throw fail("NUMBER_OUT_OF_RANGE", roundedMessage(rounded));
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > limits.webhookBytes) {
    throw fail(
      "BODY_TOO_LARGE",
      `The body must have at most ${limits.webhookBytes} bytes as JSON (SVC_MAX_WEBHOOK_BYTES).`,
    );
  }
  return { value, text };
}

/**
 * The path of the first number that may be a rounded integer. The numbers of a message are doubles, whose literals are
 * unknown: from 1e21 on they are taken for measurements, as JavaScript writes them with an exponent.
 */
function roundedPath(container: JsonObject | JsonValue[]): string | null {
  for (const [name, value] of Object.entries(container)) {
    const step = Array.isArray(container) ? `[${name}]` : name;
    if (typeof value === "number" && isAmbiguous(value)) return step;
    const rest = typeof value === "object" && value !== null ? roundedPath(value) : null;
    if (rest !== null) return `${step}${rest.startsWith("[") ? "" : "."}${rest}`;
  }
  return null;
}

function isAmbiguous(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;
}
