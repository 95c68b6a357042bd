/** The schemes against what their owners published, and against their owners' libraries. */
import { createPrivateKey, createPublicKey } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { createRequire } from "node:module";
import { sign as signGithub, verify as verifyGithub } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { describe, expect, test } from "vitest";
import type { SignatureScheme } from "../../project/definition.ts";
import { readDeliveryId, verifySignature } from "../../server/webhooks/signatures/index.ts";
import { libraryVectors } from "./library-vectors.ts";
import { definitionOf, hookUrl } from "./signers.ts";

const load = createRequire(import.meta.url);

/** The seed of an Ed25519 key, base64, as the public key of a `standard` webhook. */
function publicKeyOf(seed: string): string {
  const pkcs8 = Buffer.concat([
    Buffer.from("302e020100300506032b657004220420", "hex"),
    Buffer.from(seed, "base64"),
  ]);
  const key = createPublicKey(createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" }));
  return `whpk_${Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url").toString("base64")}`;
}

interface Vector {
  name: string;
  scheme: SignatureScheme;
  secret: string;
  seconds: number;
  headers: IncomingHttpHeaders;
  body: string;
}

const standardBody = '{"test": 2432232314}';
const standardHeaders = { "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330" };

const vectors: Vector[] = [
  {
    name: "Standard Webhooks, reference libraries' tests",
    scheme: "standard",
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    seconds: 1614265330,
    headers: { ...standardHeaders, "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" },
    body: standardBody,
  },
  {
    name: "Standard Webhooks, asymmetric, reference libraries' tests",
    scheme: "standard",
    secret: publicKeyOf("VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk="),
    seconds: 1614265330,
    headers: {
      ...standardHeaders,
      "webhook-signature":
        "v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag==",
    },
    body: standardBody,
  },
  {
    name: "GitHub, documentation",
    scheme: "github",
    secret: "It's a Secret to Everybody",
    seconds: 0,
    headers: {
      "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    },
    body: "Hello, World!",
  },
  {
    name: "Slack, documentation",
    scheme: "slack",
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    seconds: 1531420618,
    headers: {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
    body:
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V" +
      "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=" +
      "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
      "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
  },
  {
    name: "Slack, an event that @slack/bolt 5.1.0 verifies",
    scheme: "slack",
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    seconds: 1531420618,
    headers: {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=ae78dd77938fb2980dc7069d4bccaad452dc68dc990d56b0b46f8c5cfd35dae4",
    },
    body: '{"type":"event_callback","event_id":"Ev0PV52K21","team_id":"T1","event":{"type":"app_mention","text":"héllo <@U1>"}}',
  },
  ...["x-shopify", "shopify"].map(
    (prefix): Vector => ({
      name: `Shopify, an order with ${prefix} headers that @shopify/shopify-api 15.0.0 verifies`,
      scheme: "shopify",
      secret: "hush-shopify-client-secret",
      seconds: 0,
      headers: { [`${prefix}-hmac-sha256`]: "KJfDiL24PtQ1KoOWBoK3pBfVGGcygo53SDg4eatumHE=" },
      body: '{"id":820982911946154508,"admin_graphql_api_id":"gid://shopify/Order/820982911946154508","email":"jon@example.com","note":"größer","total_price":"199.00"}',
    }),
  ),
];

describe("published vectors", () => {
  test.each(vectors)("$name", ({ scheme, secret, seconds, headers, body }) => {
    const check = (text: string) =>
      verifySignature(definitionOf(scheme), [secret], headers, Buffer.from(text), seconds, hookUrl);
    expect(check(body)).toEqual({ ok: true });
    expect(check(`${body} `)).toMatchObject({ ok: false, rule: "mismatch" });
  });
});

describe("vectors of the senders' libraries", () => {
  test.each(libraryVectors)("$library", ({ scheme, secret, seconds, url, headers, body }) => {
    const check = (more: { secret?: string; body?: string; url?: string; seconds?: number }) =>
      verifySignature(
        definitionOf(scheme),
        [more.secret ?? secret],
        headers,
        Buffer.from(more.body ?? body),
        more.seconds ?? seconds,
        more.url ?? url,
      );
    expect(check({})).toEqual({ ok: true });
    expect(check({ body: body.replace("g", "h") })).toMatchObject({ ok: false, rule: "mismatch" });
    expect(check({ secret: secret.replace(/.(?=..$)/, "9") })).toMatchObject({ ok: false, rule: "mismatch" });
    if (["twilio", "square", "hubspot"].includes(scheme)) {
      expect(check({ url: `${url}x` })).toMatchObject({ ok: false, rule: "mismatch" });
    }
    if (scheme === "hubspot") {
      for (const at of [seconds - 301, seconds + 301]) {
        expect(check({ seconds: at })).toMatchObject({ ok: false, rule: "time" });
      }
    }
  });
});

/** GitHub's example payloads of every event, up to 30 KB, with non-ASCII text. */
const events: { name: string; examples: object[] }[] = load(
  "@octokit/webhooks-examples/api.github.com/index.json",
);
const payloads = events.flatMap(({ examples }) => examples.slice(0, 2)).map((each) => JSON.stringify(each));
const nowSeconds = Math.floor(Date.now() / 1000);

describe("the senders' libraries", () => {
  test("cover many real payloads", () => {
    expect(payloads.length).toBeGreaterThan(50);
  });

  test("standardwebhooks", () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const library = new Webhook(secret);
    for (const [n, payload] of payloads.entries()) {
      const headers = {
        "webhook-id": `msg_${n}`,
        "webhook-timestamp": String(nowSeconds),
        "webhook-signature": library.sign(`msg_${n}`, new Date(nowSeconds * 1000), payload),
      };
      const body = Buffer.from(payload);
      expect(verifySignature(definitionOf("standard"), [secret], headers, body, nowSeconds, hookUrl)).toEqual(
        {
          ok: true,
        },
      );
      const other = { ...headers, "webhook-id": "msg_x" };
      expect(() => library.verify(payload, other)).toThrow();
      expect(verifySignature(definitionOf("standard"), [secret], other, body, nowSeconds, hookUrl).ok).toBe(
        false,
      );
    }
  });

  test("@octokit/webhooks-methods", async () => {
    for (const payload of payloads) {
      const signature = await signGithub("octo secret", payload);
      const body = Buffer.from(payload);
      for (const value of [signature, signature.replace(/.$/, (last) => (last === "0" ? "1" : "0"))]) {
        const headers = { "x-hub-signature-256": value };
        expect(verifySignature(definitionOf("github"), ["octo secret"], headers, body, 0, hookUrl).ok).toBe(
          await verifyGithub("octo secret", payload, value),
        );
      }
    }
  });

  test("stripe", () => {
    const { webhooks } = new Stripe("sk_test_unused");
    const secret = "whsec_test_secret";
    for (const [n, example] of payloads.entries()) {
      const event = { id: `evt_${n}`, object: "event", data: JSON.parse(example) };
      const payload = JSON.stringify(event, null, n % 3);
      const header = webhooks.generateTestHeaderString({ payload, secret, timestamp: nowSeconds });
      const headers = { "stripe-signature": header };
      const body = Buffer.from(payload);
      expect(verifySignature(definitionOf("stripe"), [secret], headers, body, nowSeconds, hookUrl)).toEqual({
        ok: true,
      });
      const constructed = webhooks.constructEvent(payload, header, secret);
      expect(readDeliveryId(definitionOf("stripe"), headers, JSON.parse(payload))).toBe(constructed.id);
    }
  });
});
