/** Redacts credentials from the request headers that a delivery keeps. */
import type { IncomingHttpHeaders } from "node:http";
import type { SignatureDefinition } from "../../project/definition.ts";

/** Replaces a redacted value. */
export const hidden = "[hidden]";

/** Names of credentials and signatures. The list errs on the wide side: a missing value costs little, a leaked one a lot. */
const secretName =
  /auth|bearer|cert|cookie|credential|csrf|hmac|jwt|nonce|otp|passphrase|passw|secret|session|signature|token|trello-webhook|xsrf|(?:^|-)(?:key|pin|sid|sig|sign|sso)(?:$|-)|(?:access|api|private)key/;

/** Names of headers that hold the requested URL: the URL of a webhook is a secret. */
const urlName = /(?:^|-)(?:location|path|referer|referrer|uri|url)(?:$|-)/;

/** Names that match `secretName` or `urlName` and hold no secret. */
const plainNames = new Set([
  "idempotency-key",
  "x-idempotency-key",
  "x-event-key",
  "sec-websocket-key",
  ":authority",
]);

/** Values that are credentials or contain a webhook's path, whatever the header's name. */
const secretValue =
  /(?:^|, )(?:(?:basic|bearer|digest|negotiate|token|aws4-hmac-sha256) |eyJ[\w-]+\.[\w-]+\.)|\/webhooks?\//i;

/**
 * Whether a name is secret, by name; emptied when full. Senders repeat the same few names, and a lookup takes a tenth of the
 * time of the patterns.
 */
const secretNames = new Map<string, boolean>();
const maxNames = 1_000;

/**
 * Returns the headers with the values of credentials replaced by `hidden`. Names are kept, so that a reader sees which
 * headers were sent.
 *
 * @param signature - the webhook's own scheme; its header is hidden whatever its name is
 */
export function withoutCredentials(
  headers: IncomingHttpHeaders,
  signature: SignatureDefinition | null,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    const text = typeof value === "string" ? value : value.join(", ");
    const isSecret = name === signature?.header || isSecretName(name) || secretValue.test(text);
    kept[name] = isSecret ? hidden : text;
  }
  return kept;
}

function isSecretName(name: string): boolean {
  let isSecret = secretNames.get(name);
  if (isSecret === undefined) {
    isSecret = !plainNames.has(name) && (secretName.test(name) || urlName.test(name));
    if (secretNames.size >= maxNames) secretNames.clear();
    secretNames.set(name, isSecret);
  }
  return isSecret;
}
