/** The schemes that the project file configures: `ed25519`, and the signed content of `hmac`. */
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { parseProjectFile } from "../../project/file/parse.ts";
import { verifySignature } from "../../server/webhooks/signatures/index.ts";
import fc from "../support/property.ts";
import { definitionOf, hookUrl } from "./signers.ts";

const now = 1_700_000_000;
const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
const other = Buffer.from(
  generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x ?? "",
  "base64url",
);
const body = Buffer.from('{"a":"größe"}');
const signed = (text: string | Uint8Array) => sign(null, Buffer.from(text as string), privateKey);

function verify(
  more: object,
  headers: object,
  given: { secret?: string; body?: Uint8Array; url?: string } = {},
) {
  const definition = definitionOf("ed25519", { header: "x-sig", ...more });
  const secrets = [given.secret ?? raw.toString("hex")];
  return verifySignature(
    definition,
    secrets,
    headers as never,
    given.body ?? body,
    now,
    given.url ?? hookUrl,
  );
}

describe("ed25519", () => {
  test("takes the public key as hex, base64, SubjectPublicKeyInfo and PEM", () => {
    const headers = { "x-sig": signed(body).toString("hex") };
    const spki = publicKey.export({ format: "der", type: "spki" }).toString("base64");
    const pem = publicKey.export({ format: "pem", type: "spki" }).toString();
    for (const secret of [raw.toString("hex"), raw.toString("base64"), spki, pem]) {
      expect(verify({}, headers, { secret }), secret).toEqual({ ok: true });
    }
    expect(verify({}, headers, { secret: other.toString("hex") })).toMatchObject({ rule: "mismatch" });
    for (const secret of [
      "key",
      "ab".repeat(31),
      raw.toString("base64").slice(4),
      `${spki.slice(0, -8)}AAAA`,
    ]) {
      expect(verify({}, headers, { secret }), secret).toMatchObject({ rule: "unusable" });
    }
  });

  test.each(["hex", "base64", "base64url"] as const)("takes one text of a signature in %s", (encoding) => {
    const text = signed(body).toString(encoding);
    const definition = { encoding, prefix: "ed25519=" };
    expect(verify(definition, { "x-sig": `ed25519=${text}` })).toEqual({ ok: true });
    for (const bad of [
      text,
      `ed25519=${text} `,
      `ed25519=${text.slice(1)}`,
      `ed25519=${text}A`,
      "ed25519=",
    ]) {
      expect(verify(definition, { "x-sig": bad }), bad).toMatchObject({ rule: "malformed" });
    }
    expect(verify(definition, {})).toMatchObject({ rule: "missing" });
  });

  test("signs the time, the URL and the body of the template", () => {
    const definition = {
      timestampHeader: "x-time",
      content: "v1:{timestamp}:{url}\n{body}.",
      toleranceSeconds: 10,
    };
    const headersAt = (seconds: number) => ({
      "x-time": `${seconds}`,
      "x-sig": signed(`v1:${seconds}:${hookUrl}\n${body}.`).toString("hex"),
    });
    const headers = headersAt(now);
    expect(verify(definition, headers)).toEqual({ ok: true });
    expect(verify(definition, headers, { url: `${hookUrl}b` })).toMatchObject({ rule: "mismatch" });
    expect(verify(definition, headers, { body: Buffer.from("{}") })).toMatchObject({ rule: "mismatch" });
    expect(verify(definition, { ...headers, "x-time": `${now + 1}` })).toMatchObject({ rule: "mismatch" });
    expect(verify(definition, headersAt(now - 10))).toEqual({ ok: true });
    for (const offset of [-11, 11])
      expect(verify(definition, headersAt(now + offset))).toMatchObject({ rule: "time" });
    expect(verify(definition, { "x-sig": headers["x-sig"] })).toMatchObject({ rule: "missing" });
  });

  test("accepts every signed body and neither throws nor accepts anything else", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ unit: "binary" }), fc.string(), (bytes, text, secret) => {
        expect(verify({}, { "x-sig": signed(bytes).toString("hex") }, { body: bytes })).toEqual({ ok: true });
        expect(verify({}, { "x-sig": text }, { body: bytes }).ok).toBe(false);
        expect(verify({}, { "x-sig": "0".repeat(128) }, { secret }).ok).toBe(false);
      }),
      { numRuns: 50 },
    );
  });
});

describe("hmac with content", () => {
  test("signs the template", () => {
    const definition = definitionOf("hmac", {
      header: "x-sig",
      timestampHeader: "x-time",
      content: "{timestamp}:{body}:{url}",
    });
    const text = createHmac("sha256", "key").update(`${now}:${body}:${hookUrl}`).digest("hex");
    const check = (bytes: Uint8Array, url = hookUrl) =>
      verifySignature(definition, ["key"], { "x-sig": text, "x-time": `${now}` }, bytes, now, url);
    expect(check(body)).toEqual({ ok: true });
    expect(check(Buffer.from("{}"))).toMatchObject({ rule: "mismatch" });
    expect(check(body, `${hookUrl}b`)).toMatchObject({ rule: "mismatch" });
  });
});

describe("the project file", () => {
  const parse = (signature: object) => {
    const file = { name: "p", version: "1", agents: [{ name: "a", webhooks: [{ slug: "in", signature }] }] };
    const { definition, problems } = parseProjectFile(Buffer.from(JSON.stringify(file)));
    return {
      signature: definition?.agents[0]?.webhooks[0]?.signature,
      problems: problems.map(({ message }) => message).join("\n"),
    };
  };
  const ed25519 = { scheme: "ed25519", secret: "KEY", header: "X-Sig" };
  const topic = "arn:aws:sns:us-east-1:123456789012:orders";

  test("takes the options", () => {
    expect(
      parse({
        ...ed25519,
        encoding: "base64",
        timestamp_header: "X-Time",
        content: "{timestamp}{body}",
        tolerance: 60,
      }),
    ).toMatchObject({
      problems: "",
      signature: {
        scheme: "ed25519",
        header: "x-sig",
        encoding: "base64",
        timestampHeader: "x-time",
        content: "{timestamp}{body}",
        toleranceSeconds: 60,
      },
    });
    expect(parse({ scheme: "sns", topic })).toMatchObject({
      problems: "",
      signature: { topic, secrets: [] },
    });
  });

  test.each([
    [{ ...ed25519, algorithm: "sha1" }, /algorithm is for the scheme hmac, not ed25519/],
    [{ scheme: "ed25519", secret: "KEY" }, /header is missing/],
    [{ ...ed25519, content: "{timestamp}" }, /must have the placeholder \{body\} once/],
    [{ ...ed25519, content: "{body}{body}" }, /must have the placeholder \{body\} once/],
    [
      { ...ed25519, content: "{body}{time}" },
      /placeholders \{body\}, \{timestamp\} and \{url\}, not \{time\}/,
    ],
    [{ ...ed25519, content: "{timestamp}{body}" }, /needs timestamp_header/],
    [{ ...ed25519, content: "{body}", timestamp_header: "x-time" }, /the time is not signed/],
    [{ ...ed25519, content: 7 }, /must be a text of at most 256 characters/],
    [{ ...ed25519, tolerance: 0 }, /whole number from 1 to 86400/],
    [{ scheme: "sns" }, /topic is missing/],
    [{ scheme: "sns", topic: "orders" }, /must be the ARN of a topic/],
    [{ scheme: "sns", topic, secret: "KEY" }, /the scheme sns has no secret/],
    [{ scheme: "github", secret: "KEY", topic }, /topic is for the scheme sns, not github/],
    [{ scheme: "asana" }, /secret is missing/],
  ])("reports %j", (signature, message) => {
    expect(parse(signature).problems).toMatch(message);
  });
});
