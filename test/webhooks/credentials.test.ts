import { expect, test } from "vitest";
import { hidden, withoutCredentials } from "../../server/webhooks/credentials.ts";
import fc from "../support/property.ts";
import { definitionOf, senders } from "./signers.ts";

const secretNames =
  "authorization proxy-authorization cookie set-cookie x-api-key api-key apikey x-apikey x-auth-token x-access-token " +
  "x-amz-security-token x-gitlab-token x-hub-signature x-hub-signature-256 x-shopify-hmac-sha256 shopify-hmac-sha256 " +
  "webhook-signature svix-signature stripe-signature x-slack-signature paypal-transmission-sig x-twilio-signature " +
  "x-hook-secret x-webhook-secret x-csrf-token x-session-id x-client-cert x-amzn-oidc-data-jwt cf-access-client-secret " +
  "x-password private-token job-token x-vault-token ocp-apim-subscription-key x-functions-key x-forwarded-uri " +
  "x-original-url referer x-rewrite-url x-envoy-original-path";
const plainNames =
  "host content-type content-length user-agent accept accept-encoding x-github-event x-github-delivery x-gitlab-event " +
  "x-shopify-topic x-shopify-webhook-id webhook-id webhook-timestamp x-slack-request-timestamp idempotency-key " +
  "x-forwarded-for traceparent x-request-id date cf-ray x-event-key x-keynote x-monkey";

test.each(secretNames.split(" "))("hides %s", (name) => {
  expect(withoutCredentials({ [name]: "s3cret" }, null)).toEqual({ [name]: hidden });
});

test.each(plainNames.split(" "))("keeps %s", (name) => {
  expect(withoutCredentials({ [name]: "value" }, null)).toEqual({ [name]: "value" });
});

test.each([
  "Bearer abc",
  "basic dXNlcjpwYXNz",
  "Token token=abc",
  "AWS4-HMAC-SHA256 Credential=AKIA/20250101",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig",
  "https://svc.example/webhook/org_abc/agent/triage/new",
  "/api/v1/webhooks/trigger/org_abc/new",
])("hides the value %s under any name", (value) => {
  expect(withoutCredentials({ "x-anything": value, "x-list": ["a", value] as never }, null)).toEqual({
    "x-anything": hidden,
    "x-list": hidden,
  });
});

test("hides the signature header of the webhook, whatever its name", () => {
  const headers = { "x-checksum": "abc", "x-other": "abc" };
  const definition = definitionOf("token", { header: "x-checksum" });
  expect(withoutCredentials(headers, definition)).toEqual({ "x-checksum": hidden, "x-other": "abc" });
});

test("hides the signatures of every sender", () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.values(senders)), fc.uint8Array(), (sender, body) => {
      const signed = sender.sign("whsec_AAAA", body, 1_700_000_000);
      const kept = withoutCredentials({ ...signed, "x-event": "push" }, sender.definition);
      expect(kept[sender.header]).toBe(hidden);
      expect(Object.keys(kept)).toEqual([...Object.keys(signed), "x-event"]);
      expect(kept["x-event"]).toBe("push");
    }),
  );
});

test("does not change the prototype for a header named __proto__, and skips absent headers", () => {
  const headers = JSON.parse('{"__proto__":"a","x-b":"c"}');
  const kept = withoutCredentials({ ...headers, "x-absent": undefined }, null);
  expect(Object.getPrototypeOf(kept)).toBe(Object.prototype);
  expect(kept["x-b"]).toBe("c");
  expect("x-absent" in kept).toBe(false);
});
