/**
 * Slack: `x-slack-signature` is `v0=` and the hex HMAC-SHA256 of `v0:<x-slack-request-timestamp>:<body>`. The response to a
 * `url_verification` event, which is signed too, is its `challenge`.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "../../../project/json.ts";
import { someHmacMatches } from "./digest.ts";
import { deliveryOf, header, refuseTime } from "./request.ts";
import type { Delivery, SignedRequest, Verification } from "./scheme.ts";
import { accepted, malformed, mismatch, missing } from "./scheme.ts";

const name = "x-slack-signature";
const timeName = "x-slack-request-timestamp";

export const signsDeliveryId = true;

export function verify({ secrets, headers, body, nowSeconds }: SignedRequest): Verification {
  const signature = header(headers, name);
  if (signature === null) return missing(name);
  if (!/^v0=[0-9a-f]{64}$/.test(signature)) return malformed(name, "'v0=' and 64 hex digits");
  const seconds = header(headers, timeName);
  const untimely = refuseTime(seconds, timeName, nowSeconds);
  if (untimely !== null) return untimely;
  const hmac = {
    algorithm: "sha256",
    encoding: "hex",
    keys: secrets,
    keyEncoding: "utf8",
    before: `v0:${seconds}:`,
    body,
  } as const;
  return someHmacMatches(hmac, [signature.slice(3)]) ? accepted : mismatch;
}

export function delivery(_headers: IncomingHttpHeaders, payload: JsonObject): Delivery {
  if (payload.type === "url_verification" && typeof payload.challenge === "string") {
    return { deliveryId: null, challenge: payload.challenge };
  }
  return deliveryOf(payload.event_id);
}
