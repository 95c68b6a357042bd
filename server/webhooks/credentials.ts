/** What of a request's headers the deliveries' inspector may keep. */
import type { IncomingHttpHeaders } from "node:http";
import type { SignatureDefinition } from "../../project/definition.ts";

/** Stands in place of a value that is not kept. */
export const hidden = "[hidden]";

/** Names of credentials and of what proves them. Too wide rather than too narrow: an inspector can do without a value. */
const secretName =
  /auth|bearer|cert|cookie|credential|csrf|hmac|jwt|nonce|otp|passphrase|passw|secret|session|signature|token|xsrf|(?:^|-)(?:key|pin|sid|sig|sign|sso)(?:$|-)|(?:access|api|private)key/;

/** Names of what says where the request went: the URL of a webhook is a secret. */
const urlName = /(?:^|-)(?:location|path|referer|referrer|uri|url)(?:$|-)/;

/** Names that look like a secret's and carry none. */
const plainNames = new Set(["idempotency-key", "x-idempotency-key", "sec-websocket-key", ":authority"]);

/** Values that are credentials, or name a webhook's path, whatever their header is called. */
const secretValue =
  /(?:^|, )(?:(?:basic|bearer|digest|negotiate|token|aws4-hmac-sha256) |eyJ[\w-]+\.[\w-]+\.)|\/webhooks?\//i;

/**
 * The headers with every credential's value replaced by `hidden`; the name stays, so that one sees what was sent.
 *
 * @param signature - the webhook's own, whose header is hidden whatever it is called
 */
export function withoutCredentials(
  headers: IncomingHttpHeaders,
  signature: SignatureDefinition | null,
): Record<string, string> {
  const kept = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const text = Array.isArray(value) ? value.join(", ") : value;
    const isSecret = name === signature?.header || isSecretName(name) || secretValue.test(text);
    return [[name, isSecret ? hidden : text]];
  });
  return Object.fromEntries(kept);
}

function isSecretName(name: string): boolean {
  return !plainNames.has(name) && (secretName.test(name) || urlName.test(name));
}
