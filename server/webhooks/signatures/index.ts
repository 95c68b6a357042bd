/**
 * Whether a webhook comes from whom it says it does.
 *
 * The schemes are written here over `node:crypto` and the raw bytes. Their own libraries were tried on the three runtimes
 * and serve as the tests' reference instead. `standardwebhooks` 1.1 hashes in JavaScript (64 us for 8 KB against 6 us)
 * and takes text; `@octokit/webhooks-methods` 6 and `@slack/bolt` 5 take text too, so bytes that are not UTF-8 are
 * verified as something else than what was sent; `stripe` 23 verifies only asynchronously on Bun and Deno, lets any
 * future time pass and unpacks to 23 MB; `@shopify/shopify-api` 15 unpacks to 29 MB and wants an app's configuration.
 * None but `stripe` and `@slack/bolt` can be given the clock.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { SignatureDefinition, SignatureScheme } from "../../../project/definition.ts";
import type { JsonObject } from "../../../project/json.ts";
import * as github from "./github.ts";
import * as hmac from "./hmac.ts";
import type { Delivery, Scheme, SignatureRule, Verdict } from "./scheme.ts";
import { noSecret } from "./scheme.ts";
import * as shopify from "./shopify.ts";
import * as slack from "./slack.ts";
import * as standard from "./standard.ts";
import * as stripe from "./stripe.ts";
import * as token from "./token.ts";

export type { Delivery, SignatureRule, Verdict } from "./scheme.ts";

const schemes: Record<SignatureScheme, Scheme> = { standard, github, stripe, slack, shopify, hmac, token };

/**
 * Decides about the raw bytes, before anything is parsed. Never throws; refuses when no secret is set.
 *
 * @param secrets - the values of `definition.secrets`; those not set are left out
 * @param headers - with names in lower case, as `node:http` gives them
 * @param nowSeconds - the server's time, seconds of Unix time; a signed time may differ from it by 300
 */
export function verifySignature(
  definition: SignatureDefinition,
  secrets: readonly string[],
  headers: IncomingHttpHeaders,
  body: Uint8Array,
  nowSeconds: number,
): Verdict {
  if (!secrets.some((secret) => secret !== "")) return noSecret;
  return schemes[definition.scheme].verify({ definition, secrets, headers, body, nowSeconds });
}

/**
 * Reads the sender's own delivery id and challenge. Apart from `verifySignature`, so that the payload, which Stripe and
 * Slack keep them in, is parsed once, and after it was verified.
 */
export function readDelivery(
  definition: SignatureDefinition,
  headers: IncomingHttpHeaders,
  payload: JsonObject,
): Delivery {
  return schemes[definition.scheme].delivery(headers, payload);
}

/** What the sender is told in the 401: the rule that failed and nothing else. */
export const ruleMessages: Readonly<Record<SignatureRule, string>> = {
  missing: "The webhook's signature is missing or incomplete.",
  malformed: "The webhook's signature is not of the form that its scheme asks for.",
  mismatch: "The webhook's signature does not match its body.",
  time: "The webhook's time is unreadable or more than 300 seconds from the server's.",
  unusable: "The webhook's signature cannot be checked, because its secret is not set or not usable.",
};
