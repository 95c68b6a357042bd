/** Holds a JSON object that did not come as text to the limits of one that did. */
import { Code } from "@connectrpc/connect";
import type { JsonObject, JsonValue } from "../../project/json.ts";
import type { Limits } from "../config.ts";
import { fail, invalid } from "../errors.ts";
import type { Payload } from "./trigger.ts";

/** @throws ConnectError when the object is nested too deep or too large as JSON. */
export function encodePayload(value: JsonObject, limits: Limits): Payload {
  if (deeperThan(value, limits.jsonDepth)) {
    throw invalid(
      `The JSON is nested too deep: at most ${limits.jsonDepth} levels are allowed (SVC_MAX_JSON_DEPTH).`,
    );
  }
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > limits.webhookBytes) {
    throw fail(
      Code.ResourceExhausted,
      `The JSON is too large: at most ${limits.webhookBytes} bytes are allowed (SVC_MAX_WEBHOOK_BYTES).`,
      { status: 413 },
    );
  }
  return { value, text };
}

function deeperThan(value: JsonValue, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const members = Array.isArray(value) ? value : Object.values(value);
  return members.some((member) => deeperThan(member, levels - 1));
}
