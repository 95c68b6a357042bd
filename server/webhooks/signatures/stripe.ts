/**
 * Stripe: `stripe-signature` is `t=<seconds>,v1=<hex>[,v1=<hex>]`, each `v1` the HMAC-SHA256 of `<t>.<body>` under the
 * endpoint's secret including its `whsec_`. Other versions, such as `v0` of test events, are ignored.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "../../../project/json.ts";
import { someHmacMatches } from "./digest.ts";
import { deliveryOf, header, refuseTime } from "./request.ts";
import type { Delivery, SignedRequest, Verification } from "./scheme.ts";
import { accepted, malformed, mismatch, missing } from "./scheme.ts";

const name = "stripe-signature";
const maxParts = 16;

export const signsDeliveryId = true;

export function verify({ secrets, headers, body, nowSeconds }: SignedRequest): Verification {
  const value = header(headers, name);
  if (value === null) return missing(name);
  const parts = value.split(",", maxParts + 1);
  const times = parts.filter((part) => part.startsWith("t="));
  const candidates = parts.filter((part) => part.startsWith("v1=")).map((part) => part.slice(3));
  if (parts.length > maxParts || times.length !== 1 || candidates.length === 0) {
    return malformed(name, `at most ${maxParts} parts, one 't=' and a 'v1=' among them`);
  }
  const seconds = (times[0] ?? "").slice(2);
  const untimely = refuseTime(seconds, name, nowSeconds);
  if (untimely !== null) return untimely;
  const hmac = {
    algorithm: "sha256",
    encoding: "hex",
    keys: secrets,
    keyEncoding: "utf8",
    before: `${seconds}.`,
    body,
  } as const;
  return someHmacMatches(hmac, candidates) ? accepted : mismatch;
}

export function delivery(_headers: IncomingHttpHeaders, payload: JsonObject): Delivery {
  return deliveryOf(payload.id);
}
