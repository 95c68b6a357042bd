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
import * as hmac from "./hmac.ts";
import type { Scheme, SignatureRule, Verification } from "./scheme.ts";
import { noSecret } from "./scheme.ts";
import { basic } from "./senders/basic.ts";
import { bitbucket } from "./senders/bitbucket.ts";
import { calendly } from "./senders/calendly.ts";
import { discord } from "./senders/discord.ts";
import { dropbox } from "./senders/dropbox.ts";
import { github } from "./senders/github.ts";
import { gitlab } from "./senders/gitlab.ts";
import { hubspot } from "./senders/hubspot.ts";
import { jira } from "./senders/jira.ts";
import { lemonsqueezy } from "./senders/lemonsqueezy.ts";
import { line } from "./senders/line.ts";
import { linear } from "./senders/linear.ts";
import { mailgun } from "./senders/mailgun.ts";
import { meta } from "./senders/meta.ts";
import { microsoft } from "./senders/microsoft.ts";
import { paddle } from "./senders/paddle.ts";
import { sendgrid } from "./senders/sendgrid.ts";
import { shopify } from "./senders/shopify.ts";
import { slack } from "./senders/slack.ts";
import { square } from "./senders/square.ts";
import { stripe } from "./senders/stripe.ts";
import { trello } from "./senders/trello.ts";
import { twilio } from "./senders/twilio.ts";
import { typeform } from "./senders/typeform.ts";
import { zoom } from "./senders/zoom.ts";
import * as standard from "./standard.ts";
import * as token from "./token.ts";

export type { SignatureRule, Verification } from "./scheme.ts";

const schemes: Record<SignatureScheme, Scheme> = {
  standard,
  svix: standard,
  hmac,
  token,
  basic,
  bitbucket,
  calendly,
  discord,
  dropbox,
  github,
  gitlab,
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
  square,
  stripe,
  trello,
  twilio,
  typeform,
  zoom,
};

/**
 * Verifies the raw bytes, before anything is parsed. Never throws; refuses when no secret is set.
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
};
