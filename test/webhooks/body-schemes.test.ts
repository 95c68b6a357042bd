/** Schemes that authenticate by values of the body or by a header that holds the secret. */
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { SignatureScheme } from "../../project/definition.ts";
import { readDeliveryId, verifySignature } from "../../server/webhooks/signatures/index.ts";
import fc from "../support/property.ts";
import { definitionOf, hookUrl } from "./signers.ts";

const now = 1_700_000_000;

function verify(scheme: SignatureScheme, secrets: string[], headers: object, body: string | Uint8Array) {
  return verifySignature(
    definitionOf(scheme),
    secrets,
    headers as never,
    Buffer.from(body as string),
    now,
    hookUrl,
  );
}

describe("mailgun", () => {
  const key = "mailgun signing key";
  const signed = (seconds: number, token = "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0") => ({
    timestamp: `${seconds}`,
    token,
    signature: createHmac("sha256", key).update(`${seconds}${token}`).digest("hex"),
  });
  const json = (signature: object) => JSON.stringify({ signature, "event-data": { id: "x" } });
  const form = (fields: Record<string, string>) =>
    new URLSearchParams({ sender: "a@b", ...fields }).toString();

  test("accepts signed JSON and forms", () => {
    expect(verify("mailgun", [key], {}, json(signed(now)))).toEqual({ ok: true });
    expect(verify("mailgun", [key], {}, form(signed(now)))).toEqual({ ok: true });
  });

  test("refuses another time, token or key, and a body without a signature", () => {
    for (const body of [json({ ...signed(now), token: "x" }), form({ ...signed(now), token: "x" })]) {
      expect(verify("mailgun", [key], {}, body)).toMatchObject({ rule: "mismatch" });
    }
    expect(verify("mailgun", ["other"], {}, json(signed(now)))).toMatchObject({ rule: "mismatch" });
    expect(verify("mailgun", [key], {}, json(signed(now - 301)))).toMatchObject({ rule: "time" });
    const moved = { ...signed(now - 100), timestamp: `${now}` };
    expect(verify("mailgun", [key], {}, json(moved))).toMatchObject({ rule: "mismatch" });
    expect(verify("mailgun", [key], {}, "{}")).toMatchObject({ rule: "missing" });
    const twice = `${form(signed(now))}&token=b`;
    expect(verify("mailgun", [key], {}, twice)).toMatchObject({ rule: "malformed" });
  });

  test("uses the token as the delivery id", () => {
    const payload = JSON.parse(json(signed(now, "t1")));
    expect(readDeliveryId(definitionOf("mailgun"), {}, payload)).toBe("t1");
  });
});

describe("microsoft", () => {
  const body = (...states: unknown[]) =>
    JSON.stringify({ value: states.map((clientState) => ({ clientState })) });

  test("accepts notifications that all carry the secret", () => {
    expect(verify("microsoft", ["state"], {}, body("state", "state"))).toEqual({ ok: true });
    expect(verify("microsoft", ["state"], {}, body("state", "other"))).toMatchObject({ rule: "mismatch" });
    expect(verify("microsoft", ["state", "new"], {}, body("new"))).toEqual({ ok: true });
    expect(verify("microsoft", ["state"], {}, body(7))).toMatchObject({ rule: "mismatch" });
    expect(verify("microsoft", ["state"], {}, body())).toMatchObject({ rule: "missing" });
    expect(verify("microsoft", [""], {}, body(""))).toMatchObject({ rule: "unusable" });
  });
});

describe("basic", () => {
  const header = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });

  test("accepts the user and password of the secret and nothing else", () => {
    expect(verify("basic", ["hook:pässword"], header("hook:pässword"), "{}")).toEqual({ ok: true });
    expect(verify("basic", ["hook:password"], header("hook:passwor"), "{}")).toMatchObject({
      rule: "mismatch",
    });
    expect(verify("basic", ["hook:password"], {}, "{}")).toMatchObject({ rule: "missing" });
    const bearer = { authorization: "Bearer abc" };
    expect(verify("basic", ["hook:password"], bearer, "{}")).toMatchObject({ rule: "malformed" });
  });
});

describe("gitlab", () => {
  test("accepts the token and reads the id that retries share", () => {
    expect(verify("gitlab", ["tök"], { "x-gitlab-token": "tök" }, "{}")).toEqual({ ok: true });
    expect(verify("gitlab", ["tok"], { "x-gitlab-token": "tom" }, "{}")).toMatchObject({ rule: "mismatch" });
    const headers = { "idempotency-key": "f5e57165-9da1-4a25-bbb8-2c4ac2bfb8a5" };
    expect(readDeliveryId(definitionOf("gitlab"), headers, {})).toBe(headers["idempotency-key"]);
  });
});

describe("delivery ids", () => {
  test.each<[SignatureScheme, object, object, string | null]>([
    ["linear", { "linear-delivery": "l1" }, {}, "l1"],
    ["bitbucket", { "x-request-uuid": "b1" }, {}, "b1"],
    ["bitbucket", { "x-request-id": "b2" }, {}, "b2"],
    ["jira", { "x-atlassian-webhook-identifier": "j1" }, {}, "j1"],
    ["square", {}, { event_id: "s1" }, "s1"],
    ["trello", {}, { action: { id: "t1" } }, "t1"],
    ["typeform", {}, { event_id: "f1" }, "f1"],
    ["paddle", {}, { notification_id: "ntf_1", event_id: "evt_1" }, "ntf_1"],
    ["paddle", {}, { event_id: "evt_1" }, "evt_1"],
    ["discord", {}, { id: "846462639134605312" }, "846462639134605312"],
    ["twilio", { "i-twilio-idempotency-token": "i1" }, {}, "i1"],
    ["svix", { "svix-id": "m1", "svix-signature": "v1,x" }, {}, "m1"],
    ["standard", { "svix-id": "m1", "webhook-signature": "v1,x" }, {}, null],
    ["meta", {}, { id: "x" }, null],
    ["zoom", {}, { id: "x" }, null],
  ])("of %s", (scheme, headers, payload, id) => {
    expect(readDeliveryId(definitionOf(scheme), headers as never, payload as never)).toBe(id);
  });
});

test("no scheme throws or accepts arbitrary requests", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("{", '{"value":[null]}', "a&&=&b"),
  );
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.json().map((each) => Buffer.from(each)),
    text.map((each) => Buffer.from(each)),
  );
  const names = {
    discord: ["x-signature-ed25519", "x-signature-timestamp"],
    sendgrid: ["x-twilio-email-event-webhook-signature", "x-twilio-email-event-webhook-timestamp"],
    twilio: ["x-twilio-signature", "content-type"],
    hubspot: ["x-hubspot-signature-v3", "x-hubspot-request-timestamp"],
    linear: ["linear-signature"],
    mailgun: [],
    microsoft: [],
    basic: ["authorization"],
    gitlab: ["x-gitlab-token"],
  } as const;
  const some = fc.oneof(
    text,
    fc.constantFrom(`${now}`, "0".repeat(128), `${"A".repeat(43)}=`, `${"A".repeat(27)}=`),
    fc.constant("application/x-www-form-urlencoded"),
  );
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(names)), some, some, body, (scheme, first, second, bytes) => {
      const [a = "x", b = "y"] = names[scheme as keyof typeof names];
      const result = verify(
        scheme as SignatureScheme,
        ["a secret of 20 chars"],
        { [a]: first, [b]: second },
        bytes,
      );
      expect(result.ok).toBe(false);
    }),
    { numRuns: 300 },
  );
});
