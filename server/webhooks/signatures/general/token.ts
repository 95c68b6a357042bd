/**
 * `token`: a configured header carries the secret itself, as GitLab's `x-gitlab-token` does. Nothing is signed, so the
 * scheme is only as safe as the connection.
 */
import type { IncomingHttpHeaders } from "node:http";
import { sameSecret } from "../digest.ts";
import { header } from "../request.ts";
import type { SignedRequest, Verification } from "../scheme.ts";
import { accepted, missing, refused } from "../scheme.ts";

export const signsDeliveryId = false;

export function verify({ definition, secrets, headers }: SignedRequest): Verification {
  if (definition.header === null) return refused("unusable", "The webhook's signature names no header.");
  const token = header(headers, definition.header);
  if (token === null) return missing(definition.header);
  const given = Buffer.from(token);
  const matches = secrets.some((secret) => secret !== "" && sameSecret(given, secret));
  return matches ? accepted : refused("mismatch", `The token in ${definition.header} is not the webhook's.`);
}

/** The scheme defines no delivery id; the webhook's `idempotency` may name a header. */
export function deliveryId(_headers: IncomingHttpHeaders): null {
  return null;
}
