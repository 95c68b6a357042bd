/**
 * Verifies the signatures of webhook requests.
 *
 * The schemes are implemented over `node:crypto` and the raw bytes. The senders' own libraries were tried on the three
 * runtimes and serve as the tests' reference. `standardwebhooks` 1.1 hashes in JavaScript (64 us for 8 KB against 6 us)
 * and takes text; `@octokit/webhooks-methods` 6 and `@slack/bolt` 5 take text too, so bytes that are not UTF-8 are
 * changed before they are verified; `stripe` 23 verifies only asynchronously on Bun and Deno, accepts
 * any future time and unpacks to 23 MB; `@shopify/shopify-api` 15 unpacks to 29 MB and needs an app's configuration.
 * Only `stripe` and `@slack/bolt` accept a clock.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { SignatureDefinition, SignatureScheme } from "../../../project/definition.ts";
import type { JsonObject } from "../../../project/json.ts";
import * as github from "./github.ts";
import * as hmac from "./hmac.ts";
import type { Delivery, Scheme, SignatureRule, Verification } from "./scheme.ts";
import { noSecret } from "./scheme.ts";
import * as shopify from "./shopify.ts";
import * as slack from "./slack.ts";
import * as standard from "./standard.ts";
import * as stripe from "./stripe.ts";
import * as token from "./token.ts";

export type { Delivery, SignatureRule, Verification } from "./scheme.ts";

const schemes: Record<SignatureScheme, Scheme> = { standard, github, stripe, slack, shopify, hmac, token };

/**
 * Verifies the raw bytes, before anything is parsed. Never throws; refuses when no secret is set.
 *
 * @param secrets - the values of `definition.secrets`, without those that are not set
 * @param headers - names in lower case
 * @param nowSeconds - Unix time; a signed time may differ from it by 300 seconds
 */
export function verifySignature(
  definition: SignatureDefinition,
  secrets: readonly string[],
  headers: IncomingHttpHeaders,
  body: Uint8Array,
  nowSeconds: number,
): Verification {
  if (!secrets.some((secret) => secret !== "")) return noSecret;
  return schemes[definition.scheme].verify({ definition, secrets, headers, body, nowSeconds });
}

/**
 * Reads the sender's delivery id and challenge. Separate from `verifySignature` because Stripe and Slack put them in the
 * payload, which is parsed once and only after verification.
 */
export function readDelivery(
  definition: SignatureDefinition,
  headers: IncomingHttpHeaders,
  payload: JsonObject,
): Delivery {
  return schemes[definition.scheme].delivery(headers, payload);
}

/** Whether the signature of the scheme covers the delivery id. */
export function signsDeliveryId({ scheme }: SignatureDefinition): boolean {
  return schemes[scheme].signsDeliveryId;
}

/** The message of the 401: it names the violated rule and nothing else. */
export const ruleMessages: Readonly<Record<SignatureRule, string>> = {
  missing: "The webhook's signature is missing or incomplete.",
  malformed: "The webhook's signature does not have the form that its scheme requires.",
  mismatch: "The webhook's signature does not match its body.",
  time: "The webhook's time is unreadable or more than 300 seconds from the server's.",
  unusable: "The webhook's signature cannot be checked, because its secret is not set or not usable.",
};
