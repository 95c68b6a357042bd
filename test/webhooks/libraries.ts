/**
 * The senders' own libraries from npm: each signs, or verifies, a request. Libraries of more than 30 MB are replaced by
 * vectors that they produced: see library-vectors.ts.
 */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createRequire } from "node:module";
import { validateSignature as validateLine } from "@line/bot-sdk";
import { LinearWebhookClient } from "@linear/sdk/webhooks";
import { sign as signGithub, verify as verifyGithub } from "@octokit/webhooks-methods";
import { Paddle } from "@paddle/paddle-node-sdk";
import { verifySlackRequest } from "@slack/bolt";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { Webhook as SvixWebhook } from "svix";
import twilio from "twilio";
import type { SignatureScheme } from "../../project/definition.ts";

const load = createRequire(import.meta.url);

export type Headers = Record<string, string>;

export interface Library {
  name: string;
  scheme: SignatureScheme;
  /** Two values of the webhook's secret; the request is signed with the first. */
  secrets: [string, string];
  contentType?: string;
  body: string;
  /** Whether the library itself signs; otherwise it only verifies. */
  signs: boolean;
  sign(body: string, seconds: number, url: string): Headers | Promise<Headers>;
  /** The library's result. Throwing means that it refuses. */
  verify(body: string, headers: Headers, secret: string, url: string): unknown;
  /** The headers with another time, when they carry one. */
  moveTime?(headers: Headers, seconds: number): Headers;
  /** Whether the library refuses an old time by itself. */
  checksTime?: true;
}

const hmac = (key: string, text: string, encoding: "hex" | "base64") =>
  createHmac("sha256", key).update(text).digest(encoding);
const json = '{"id":"evt_1","type":"order.created","note":"größe <a>&b"}';
const standardSecrets: [string, string] = [7, 8].map(
  (byte) => `whsec_${Buffer.alloc(24, byte).toString("base64")}`,
) as [string, string];
const paddle = new Paddle("unused").webhooks;
const stripe = new Stripe("sk_test_unused").webhooks;

export const libraries: Library[] = [
  {
    name: "standardwebhooks",
    scheme: "standard",
    secrets: standardSecrets,
    body: json,
    signs: true,
    sign: (body, seconds) => ({
      "webhook-id": "msg_1",
      "webhook-timestamp": `${seconds}`,
      "webhook-signature": new StandardWebhook(standardSecrets[0]).sign(
        "msg_1",
        new Date(seconds * 1000),
        body,
      ),
    }),
    verify: (body, headers, secret) => new StandardWebhook(secret).verify(body, headers),
    moveTime: (headers, seconds) => ({ ...headers, "webhook-timestamp": `${seconds}` }),
    checksTime: true,
  },
  {
    name: "svix",
    scheme: "svix",
    secrets: standardSecrets,
    body: json,
    signs: true,
    sign: (body, seconds) => ({
      "svix-id": "msg_1",
      "svix-timestamp": `${seconds}`,
      "svix-signature": new SvixWebhook(standardSecrets[0]).sign("msg_1", new Date(seconds * 1000), body),
    }),
    verify: (body, headers, secret) => new SvixWebhook(secret).verify(body, headers),
    moveTime: (headers, seconds) => ({ ...headers, "svix-timestamp": `${seconds}` }),
    checksTime: true,
  },
  {
    name: "@octokit/webhooks-methods",
    scheme: "github",
    secrets: ["It's a secret", "other"],
    body: json,
    signs: true,
    sign: async (body) => ({ "x-hub-signature-256": await signGithub("It's a secret", body) }),
    verify: (body, headers, secret) => verifyGithub(secret, body, headers["x-hub-signature-256"] ?? ""),
  },
  {
    name: "stripe",
    scheme: "stripe",
    secrets: ["whsec_one", "whsec_two"],
    body: json,
    signs: true,
    sign: (payload, timestamp) => ({
      "stripe-signature": stripe.generateTestHeaderString({ payload, secret: "whsec_one", timestamp }),
    }),
    verify: (body, headers, secret) => stripe.constructEvent(body, headers["stripe-signature"] ?? "", secret),
    moveTime: ({ "stripe-signature": text = "" }, seconds) => ({
      "stripe-signature": text.replace(/t=\d+/, `t=${seconds}`),
    }),
    checksTime: true,
  },
  {
    name: "twilio",
    scheme: "twilio",
    secrets: ["twilio auth token", "another auth token"],
    contentType: "application/x-www-form-urlencoded; charset=UTF-8",
    body: "From=%2B14155550100&Body=gr%C3%B6%C3%9Fe+%26+1%3D1&MessageSid=SM1",
    signs: true,
    sign: (body, _seconds, url) => ({
      "x-twilio-signature": twilio.getExpectedTwilioSignature("twilio auth token", url, fieldsOf(body)),
    }),
    verify: (body, headers, secret, url) =>
      twilio.validateRequest(secret, headers["x-twilio-signature"] ?? "", url, fieldsOf(body)),
  },
  {
    name: "@slack/bolt",
    scheme: "slack",
    secrets: ["8f742231b10e8888abcd99yyyzzz85a5", "9f742231b10e8888abcd99yyyzzz85a5"],
    body: '{"type":"event_callback","event_id":"Ev1","event":{"type":"app_mention","text":"größe"}}',
    signs: false,
    sign: (body, seconds) => ({
      "x-slack-request-timestamp": `${seconds}`,
      "x-slack-signature": `v0=${hmac("8f742231b10e8888abcd99yyyzzz85a5", `v0:${seconds}:${body}`, "hex")}`,
    }),
    verify(body, headers, signingSecret) {
      verifySlackRequest({
        signingSecret,
        body,
        headers: {
          "x-slack-signature": headers["x-slack-signature"] ?? "",
          "x-slack-request-timestamp": Number(headers["x-slack-request-timestamp"]),
        },
      });
      return true;
    },
    moveTime: (headers, seconds) => ({ ...headers, "x-slack-request-timestamp": `${seconds}` }),
    checksTime: true,
  },
  {
    name: "@line/bot-sdk",
    scheme: "line",
    secrets: ["line channel secret", "another secret"],
    body: '{"destination":"U1","events":[{"type":"message","message":{"type":"text","text":"größe"}}]}',
    signs: false,
    sign: (body) => ({ "x-line-signature": hmac("line channel secret", body, "base64") }),
    verify: (body, headers, secret) => validateLine(body, secret, headers["x-line-signature"] ?? ""),
  },
  {
    name: "@paddle/paddle-node-sdk",
    scheme: "paddle",
    secrets: ["pdl_ntfset_01_secret", "pdl_ntfset_02_secret"],
    body: '{"event_id":"evt_01","event_type":"transaction.completed","notification_id":"ntf_01","data":{"note":"größe"}}',
    signs: false,
    sign: (body, seconds) => ({
      "paddle-signature": `ts=${seconds};h1=${hmac("pdl_ntfset_01_secret", `${seconds}:${body}`, "hex")}`,
    }),
    verify: (body, headers, secret) =>
      paddle.isSignatureValid(body, secret, headers["paddle-signature"] ?? ""),
    moveTime: ({ "paddle-signature": text = "" }, seconds) => ({
      "paddle-signature": text.replace(/ts=\d+/, `ts=${seconds}`),
    }),
    checksTime: true,
  },
  {
    name: "@linear/sdk",
    scheme: "linear",
    secrets: ["lin_wh_secret", "lin_wh_other"],
    body: `{"action":"create","type":"Issue","data":{"title":"größe"},"webhookTimestamp":${Date.now()}}`,
    signs: false,
    sign: (body) => ({ "linear-signature": hmac("lin_wh_secret", body, "hex") }),
    verify: (body, headers, secret) =>
      new LinearWebhookClient(secret).verify(
        Buffer.from(body),
        headers["linear-signature"] ?? "",
        JSON.parse(body).webhookTimestamp,
      ),
  },
  keyed("discord-interactions", "discord", "ed25519"),
  keyed("@sendgrid/eventwebhook", "sendgrid", "ec"),
];

/** Senders that sign with a private key. Their secret is the public key. */
function keyed(name: string, scheme: "discord" | "sendgrid", type: "ed25519" | "ec"): Library {
  const pair = () =>
    type === "ec" ? generateKeyPairSync("ec", { namedCurve: "prime256v1" }) : generateKeyPairSync("ed25519");
  const publicText = (key: KeyObject) =>
    type === "ec"
      ? key.export({ format: "der", type: "spki" }).toString("base64")
      : Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url").toString("hex");
  const mine = pair();
  const header =
    type === "ec"
      ? {
          signature: "x-twilio-email-event-webhook-signature",
          time: "x-twilio-email-event-webhook-timestamp",
        }
      : { signature: "x-signature-ed25519", time: "x-signature-timestamp" };
  const [hash, encoding] = type === "ec" ? (["sha256", "base64"] as const) : ([null, "hex"] as const);
  return {
    name,
    scheme,
    secrets: [publicText(mine.publicKey), publicText(pair().publicKey)],
    body: type === "ec" ? '[{"email":"a@example.com","event":"processed","note":"größe"}]' : json,
    signs: false,
    sign: (body, seconds) => ({
      [header.time]: `${seconds}`,
      [header.signature]: sign(hash, Buffer.from(`${seconds}${body}`), mine.privateKey).toString(encoding),
    }),
    verify(body, headers, secret) {
      const [signature, time] = [headers[header.signature], headers[header.time]];
      if (type === "ed25519") return load("discord-interactions").verifyKey(body, signature, time, secret);
      const library = new (load("@sendgrid/eventwebhook").EventWebhook)();
      return library.verifySignature(library.convertPublicKeyToECDSA(secret), body, signature, time);
    },
    moveTime: (headers, seconds) => ({ ...headers, [header.time]: `${seconds}` }),
  };
}

function fieldsOf(body: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body));
}
