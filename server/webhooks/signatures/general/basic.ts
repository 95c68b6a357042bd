/**
 * `basic`: HTTP basic authentication (RFC 7617). The secret is `<user>:<password>`. Nothing is signed, so the scheme is only
 * as safe as the connection.
 */
import { sameSecret } from "../digest.ts";
import { header, idOf } from "../request.ts";
import type { Scheme } from "../scheme.ts";
import { accepted, malformed, missing, refused } from "../scheme.ts";

export const basic: Scheme = {
  signsDeliveryId: false,
  verify({ secrets, headers }) {
    const text = header(headers, "authorization");
    if (text === null) return missing("authorization");
    const credentials = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(text)?.[1];
    if (credentials === undefined) return malformed("authorization", "'Basic' and base64");
    const given = Buffer.from(credentials, "base64");
    if (secrets.some((secret) => secret !== "" && sameSecret(given, secret))) return accepted;
    return refused("mismatch", "The user or the password is not the webhook's.");
  },
  deliveryId: () => idOf(null),
};
