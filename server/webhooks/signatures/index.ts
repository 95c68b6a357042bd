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
import { basic } from "./general/basic.ts";
import { ed25519 } from "./general/ed25519.ts";
import * as hmac from "./general/hmac.ts";
import * as standard from "./general/standard.ts";
import * as token from "./general/token.ts";
import type { Scheme, SignatureRule, Verification } from "./scheme.ts";
import { noSecret } from "./scheme.ts";
import { asana } from "./senders/apps/asana.ts";
import { calendly } from "./senders/apps/calendly.ts";
import { dropbox } from "./senders/apps/dropbox.ts";
import { hubspot } from "./senders/apps/hubspot.ts";
import { mailgun } from "./senders/apps/mailgun.ts";
import { sendgrid } from "./senders/apps/sendgrid.ts";
import { typeform } from "./senders/apps/typeform.ts";
import { google } from "./senders/cloud/google.ts";
import { microsoft } from "./senders/cloud/microsoft.ts";
import { sns } from "./senders/cloud/sns.ts";
import { bitbucket } from "./senders/code/bitbucket.ts";
import { github } from "./senders/code/github.ts";
import { gitlab } from "./senders/code/gitlab.ts";
import { jira } from "./senders/code/jira.ts";
import { linear } from "./senders/code/linear.ts";
import { trello } from "./senders/code/trello.ts";
import { discord } from "./senders/messages/discord.ts";
import { line } from "./senders/messages/line.ts";
import { meta } from "./senders/messages/meta.ts";
import { slack } from "./senders/messages/slack.ts";
import { twilio } from "./senders/messages/twilio.ts";
import { zoom } from "./senders/messages/zoom.ts";
import { lemonsqueezy } from "./senders/payments/lemonsqueezy.ts";
import { paddle } from "./senders/payments/paddle.ts";
import { shopify } from "./senders/payments/shopify.ts";
import { square } from "./senders/payments/square.ts";
import { stripe } from "./senders/payments/stripe.ts";

export { signedFields } from "./request.ts";
export type { SignatureRule, Verification } from "./scheme.ts";

const schemes: Record<SignatureScheme, Scheme> = {
  standard,
  svix: standard,
  hmac,
  ed25519,
  token,
  basic,
  asana,
  bitbucket,
  calendly,
  discord,
  dropbox,
  github,
  gitlab,
  google,
  hubspot,
  jira,
  lemonsqueezy,
  line,
  linear,
  mailgun,
  meta,
  microsoft,
  paddle,
  sendgrid,
  shopify,
  slack,
  sns,
  square,
  stripe,
  trello,
  twilio,
  typeform,
  zoom,
};

/**
 * Verifies the raw bytes, before anything is parsed. Never throws; refuses when no secret is set. `SnsVerifier` verifies
 * the scheme `sns`, which has no secret.
 *
 * @param secrets - the values of `definition.secrets`, without those that are not set
 * @param headers - names in lower case
 * @param nowSeconds - Unix time; a signed time may differ from it by 300 seconds
 * @param url - the URL as the sender knows it, which some schemes sign
 */
export function verifySignature(
  definition: SignatureDefinition,
  secrets: readonly string[],
  headers: IncomingHttpHeaders,
  body: Uint8Array,
  nowSeconds: number,
  url: string,
): Verification {
  if (!secrets.some((secret) => secret !== "")) return noSecret;
  return schemes[definition.scheme].verify({ definition, secrets, headers, body, nowSeconds, url });
}

/**
 * Reads the sender's delivery id. Separate from `verifySignature` because some senders put it in the payload, which is parsed
 * once and only after verification.
 *
 * @param payload - the signed body
 */
export function readDeliveryId(
  definition: SignatureDefinition,
  headers: IncomingHttpHeaders,
  payload: JsonObject,
): string | null {
  return schemes[definition.scheme].deliveryId(headers, payload);
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
  unavailable:
    "The webhook's signature cannot be checked now, because the sender's certificate is unavailable.",
};
