/**
 * GitHub: `x-hub-signature-256` is `sha256=` and the hex HMAC-SHA256 of the body. The signature covers neither a time nor
 * `x-github-delivery`, so a captured request can be replayed with another delivery id.
 */
import type { IncomingHttpHeaders } from "node:http";
import { someHmacMatches } from "./digest.ts";
import { deliveryOf, header } from "./request.ts";
import type { Delivery, SignedRequest, Verification } from "./scheme.ts";
import { accepted, malformed, mismatch, missing } from "./scheme.ts";

const name = "x-hub-signature-256";

export const signsDeliveryId = false;

export function verify({ secrets, headers, body }: SignedRequest): Verification {
  const signature = header(headers, name);
  if (signature === null) return missing(name);
  if (!/^sha256=[0-9a-f]{64}$/.test(signature)) return malformed(name, "'sha256=' and 64 hex digits");
  const hmac = {
    algorithm: "sha256",
    encoding: "hex",
    keys: secrets,
    keyEncoding: "utf8",
    before: "",
    body,
  } as const;
  return someHmacMatches(hmac, [signature.slice(7)]) ? accepted : mismatch;
}

export function delivery(headers: IncomingHttpHeaders): Delivery {
  return deliveryOf(header(headers, "x-github-delivery"));
}
