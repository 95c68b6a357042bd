/**
 * GitHub: `x-hub-signature-256` is `sha256=` and the hex HMAC-SHA256 of the body. Nothing signs the time or
 * `x-github-delivery`, so what was sent once can be sent again; a delivery id is as good as the sender.
 */
import type { IncomingHttpHeaders } from "node:http";
import { someHmacMatches } from "./digest.ts";
import { deliveryOf, header } from "./request.ts";
import type { Delivery, SignedRequest, Verdict } from "./scheme.ts";
import { accepted, malformed, mismatch, missing } from "./scheme.ts";

const name = "x-hub-signature-256";

export function verify({ secrets, headers, body }: SignedRequest): Verdict {
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
