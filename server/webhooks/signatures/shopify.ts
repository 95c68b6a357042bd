/**
 * Shopify: `x-shopify-hmac-sha256` is the base64 HMAC-SHA256 of the body under the app's client secret. Its newer event
 * subscriptions send the same headers without `x-`. The signature covers neither the time nor the delivery id.
 */
import type { IncomingHttpHeaders } from "node:http";
import { someHmacMatches } from "./digest.ts";
import { deliveryOf, header } from "./request.ts";
import type { Delivery, SignedRequest, Verification } from "./scheme.ts";
import { accepted, malformed, mismatch, missing } from "./scheme.ts";

const name = "x-shopify-hmac-sha256";

export const signsDeliveryId = false;

export function verify({ secrets, headers, body }: SignedRequest): Verification {
  const signature = header(headers, name) ?? header(headers, "shopify-hmac-sha256");
  if (signature === null) return missing(name);
  if (!/^[A-Za-z0-9+/]{43}=$/.test(signature)) return malformed(name, "44 characters of base64");
  const hmac = {
    algorithm: "sha256",
    encoding: "base64",
    keys: secrets,
    keyEncoding: "utf8",
    before: "",
    body,
  } as const;
  return someHmacMatches(hmac, [signature]) ? accepted : mismatch;
}

export function delivery(headers: IncomingHttpHeaders): Delivery {
  return deliveryOf(header(headers, "x-shopify-webhook-id") ?? header(headers, "shopify-webhook-id"));
}
