/** Applies the limits of a webhook body to a JSON object that was received as a message field. */
import { Code } from "@connectrpc/connect";
import type { JsonObject } from "../../project/json.ts";
import type { Limits } from "../config.ts";
import { fail, invalid } from "../errors.ts";
import { findViolation, violationMessage } from "./json.ts";
import type { Payload } from "./trigger.ts";

/** @throws ConnectError when the object is nested too deep, holds a number beyond doubles, or is too large as JSON */
export function encodePayload(value: JsonObject, limits: Limits): Payload {
  const violation = findViolation(value, limits.jsonDepth);
  if (violation !== null) throw invalid(violationMessage(violation, limits.jsonDepth));
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > limits.webhookBytes) {
    throw fail(
      Code.ResourceExhausted,
      `The body must have at most ${limits.webhookBytes} bytes as JSON (SVC_MAX_WEBHOOK_BYTES).`,
      { status: 413 },
    );
  }
  return { value, text };
}
