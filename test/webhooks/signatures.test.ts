import { describe, expect, test } from "vitest";
import { readDeliveryId, ruleMessages, verifySignature } from "../../server/webhooks/signatures/index.ts";
import fc from "../support/property.ts";
import { definitionOf, hookUrl, type Sender, senders } from "./signers.ts";

const now = 1_700_000_000;
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
const otherSecret = fc
  .uint8Array({ minLength: 24, maxLength: 24 })
  .map((raw) => `whsec_${Buffer.from(raw).toString("base64")}`)
  .filter((text) => text !== secret);

function verify(
  sender: Sender,
  headers: ReturnType<Sender["sign"]>,
  body: Uint8Array,
  secrets = [secret],
  at = now,
  url = hookUrl,
) {
  return verifySignature(sender.definition, secrets, headers, body, at, url);
}

function expectRefused(verification: ReturnType<typeof verify>, rule?: string): void {
  expect(verification.ok).toBe(false);
  if (verification.ok) return;
  if (rule !== undefined) expect(verification.rule).toBe(rule);
  expect(verification.reason).toMatch(/^[A-Z].*\.$/);
  expect(ruleMessages[verification.rule]).toMatch(/^[A-Z].*\.$/);
}

describe.each(Object.entries(senders))("%s", (_name, sender) => {
  const { header } = sender;

  test("accepts any signed bytes under any of the secrets", () => {
    fc.assert(
      fc.property(bytes, otherSecret, (body, other) => {
        const headers = sender.sign(secret, body, now);
        expect(verify(sender, headers, body)).toEqual({ ok: true });
        expect(verify(sender, headers, body, [other, secret])).toEqual({ ok: true });
        expect(verify(sender, headers, body, ["", secret])).toEqual({ ok: true });
      }),
    );
  });

  test("refuses a body with any bit flipped, cut or lengthened", () => {
    fc.assert(
      fc.property(bytes, fc.nat(), fc.nat(7), (body, position, bit) => {
        const headers = sender.sign(secret, body, now);
        const at = position % body.length;
        const flipped = Uint8Array.from(body);
        flipped[at] = (body[at] ?? 0) ^ (1 << bit);
        expectRefused(verify(sender, headers, flipped), "mismatch");
        expectRefused(verify(sender, headers, body.subarray(0, at)), "mismatch");
        expectRefused(verify(sender, headers, Buffer.concat([body, body.subarray(0, 1)])), "mismatch");
      }),
    );
  });

  test("refuses a signature with any bit flipped or cut", () => {
    fc.assert(
      fc.property(bytes, fc.nat(), fc.nat(6), (body, position, bit) => {
        const headers = sender.sign(secret, body, now);
        const value = String(headers[header]).replace(/,v0=.*/, "");
        const at = position % value.length;
        const hurt = String.fromCharCode(value.charCodeAt(at) ^ (1 << bit));
        const flipped = value.slice(0, at) + hurt + value.slice(at + 1);
        // Padding is no part of a signature: this scheme takes base64 with and without.
        fc.pre(sender.definition.scheme !== "hmac" || value[at] !== "=");
        expectRefused(verify(sender, { ...headers, [header]: flipped }, body));
        const cut = value.slice(0, at);
        if (value.slice(at) !== "=" || sender.definition.scheme !== "hmac") {
          expectRefused(verify(sender, { ...headers, [header]: cut }, body));
        }
      }),
    );
  });

  test("refuses other secrets, empty ones and none", () => {
    fc.assert(
      fc.property(bytes, otherSecret, (body, other) => {
        expectRefused(verify(sender, sender.sign(other, body, now), body), "mismatch");
      }),
    );
    const body = Buffer.from("{}");
    for (const secrets of [[], [""], ["", ""]]) {
      expectRefused(verify(sender, sender.sign("", body, now), body, secrets), "unusable");
    }
  });

  test("refuses a request that lacks a header or repeats it", () => {
    const body = Buffer.from("{}");
    const headers = sender.sign(secret, body, now);
    for (const name of Object.keys(headers)) {
      expectRefused(verify(sender, { ...headers, [name]: undefined }, body), "missing");
      expectRefused(verify(sender, { ...headers, [name]: "" }, body), "missing");
      expectRefused(
        verify(sender, { ...headers, [name]: [String(headers[name])] } as never, body),
        "missing",
      );
    }
  });

  test("refuses arbitrary headers without throwing or revealing a secret", () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.constantFrom(",", "v1,", "t=,v1=", "="),
    );
    fc.assert(
      fc.property(text, text, bytes, (value, time, body) => {
        const signed = sender.sign(secret, body, now);
        const headers = Object.fromEntries(Object.keys(signed).map((name) => [name, time]));
        const verification = verify(sender, { ...headers, [header]: value }, body);
        expectRefused(verification);
        const right = verify(sender, { ...signed, [header]: value }, body);
        for (const each of [verification, right]) {
          const told = JSON.stringify(each);
          expect(told).not.toContain("MfKQ9r8GKY");
          expect(told).not.toContain(String(signed[header]).slice(-40, -4));
        }
      }),
    );
  });
});

describe.each(Object.entries(senders).filter(([, { signsUrl }]) => signsUrl))(
  "the URL of %s",
  (_name, sender) => {
    test("refuses a signature for another URL", () => {
      const body = Buffer.from("{}");
      const headers = sender.sign(secret, body, now);
      for (const url of [hookUrl.slice(0, -1), `${hookUrl}b`, hookUrl.replace("https", "http")]) {
        expectRefused(verify(sender, headers, body, [secret], now, url), "mismatch");
      }
    });
  },
);

describe.each(Object.entries(senders).filter(([, { timed }]) => timed))("the time of %s", (_name, sender) => {
  test("allows a difference of 300 seconds and no more", () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: -400, max: 400 }), (body, offset) => {
        const verification = verify(sender, sender.sign(secret, body, now + offset), body);
        if (Math.abs(offset) <= 300) expect(verification).toEqual({ ok: true });
        else expectRefused(verification, "time");
      }),
    );
  });

  test("refuses a signed time that is not a whole number", () => {
    const body = Buffer.from("{}");
    for (const seconds of [
      "1.7e9",
      "0x6553f100",
      " 1700000000",
      "1700000000.5",
      "-1700000000",
      "1".repeat(13),
      "NaN",
    ]) {
      const headers = sender.sign(secret, body, seconds as unknown as number);
      expectRefused(verify(sender, headers, body), "time");
    }
  });
});

describe("several signatures in one header", () => {
  const body = Buffer.from('{"a":1}');

  test("standard: accepts any v1, ignores other versions, refuses nine signatures", () => {
    const sender = senders.standard as Sender;
    const headers = sender.sign(secret, body, now);
    const right = String(headers["webhook-signature"]);
    const wrong = `v1,${"A".repeat(43)}=`;
    const list = (...parts: string[]) => ({ ...headers, "webhook-signature": parts.join(" ") });
    expect(verify(sender, list(wrong, "v2,abc", right), body).ok).toBe(true);
    expect(verify(sender, list(...Array(7).fill(wrong), right), body).ok).toBe(true);
    expectRefused(verify(sender, list(...Array(8).fill(wrong), right), body), "malformed");
    expectRefused(verify(sender, list(right.replace("v1,", "v2,")), body), "mismatch");
  });

  test("stripe: accepts any v1, ignores v0, refuses two times", () => {
    const sender = senders.stripe as Sender;
    const [time, right] = String(sender.sign(secret, body, now)["stripe-signature"]).split(",") as [
      string,
      string,
    ];
    const list = (...parts: string[]) => ({ "stripe-signature": parts.join(",") });
    expect(verify(sender, list(time, `v1=${"0".repeat(64)}`, right), body).ok).toBe(true);
    expectRefused(verify(sender, list(time, right.replace("v1=", "v0=")), body), "malformed");
    expectRefused(verify(sender, list(time, right, `t=${now - 1}`), body), "malformed");
    expectRefused(verify(sender, list(time, ...Array(20).fill(right)), body), "malformed");
  });
});

describe("standard", () => {
  const sender = senders.standard as Sender;
  const body = Buffer.from("{}");

  test("refuses an id with a full stop or invisible characters", () => {
    for (const id of ["msg.1", "msg 1", "müsg", "a\tb"]) {
      expectRefused(
        verify(sender, { ...sender.sign(secret, body, now), "webhook-id": id }, body),
        "malformed",
      );
    }
  });

  test("refuses signatures under an invalid public key on every runtime", () => {
    const some = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .filter((raw) => raw.some((byte) => byte > 1));
    fc.assert(
      fc.property(some, fc.uint8Array({ minLength: 64, maxLength: 64 }), (key, signature) => {
        const base64 = (raw: Uint8Array) => Buffer.from(raw).toString("base64");
        const headers = {
          ...sender.sign(secret, body, now),
          "webhook-signature": `v1a,${base64(signature)}`,
        };
        expectRefused(verify(sender, headers, body, [`whpk_${base64(key)}`]), "mismatch");
      }),
    );
  });

  test("refuses a secret that is not base64", () => {
    for (const bad of ["whsec_", "whsec_!", "whpk_", "não", "whpk_AAAA"]) {
      expect(verify(sender, sender.sign("", body, now), body, [bad]).ok).toBe(false);
    }
  });
});

describe("hmac", () => {
  const body = Buffer.from('{"a":1}');
  const headers = { "x-sum": "" };

  test.each(["sha1", "sha256", "sha384", "sha512"] as const)(
    "%s in each encoding, padded and not",
    async (algorithm) => {
      const { createHmac } = await import("node:crypto");
      for (const encoding of ["hex", "base64", "base64url"] as const) {
        const definition = definitionOf("hmac", { header: "x-sum", algorithm, encoding, prefix: "p=" });
        const digest = createHmac(algorithm, secret).update(body).digest();
        const written = digest.toString(encoding);
        const forms =
          encoding === "hex" ? [written, written.toUpperCase()] : [written, written.replace(/=+$/, "")];
        if (encoding === "base64url")
          forms.push(digest.toString("base64").replaceAll("+", "-").replaceAll("/", "_"));
        for (const form of forms) {
          const signed = { ...headers, "x-sum": `p=${form}` };
          expect(
            verifySignature(definition, [secret], signed, body, now, hookUrl),
            `${encoding} ${form}`,
          ).toEqual({
            ok: true,
          });
          expect(verifySignature(definition, [secret], { "x-sum": form }, body, now, hookUrl).ok).toBe(false);
        }
      }
    },
  );
});

describe("token", () => {
  const definition = definitionOf("token", { header: "x-gitlab-token" });
  const check = (token: string | undefined, secrets: string[]) =>
    verifySignature(definition, secrets, { "x-gitlab-token": token }, Buffer.from("{}"), now, hookUrl);

  test("accepts the secret and nothing else", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (token, other) => {
        expect(check(token, [token])).toEqual({ ok: true });
        expect(check(token, [other, token])).toEqual({ ok: true });
        expect(check(other, [token]).ok).toBe(other === token);
        expect(check(`${token} `, [token]).ok).toBe(false);
      }),
    );
    expectRefused(check(undefined, ["t"]), "missing");
    expectRefused(check("", [""]), "unusable");
  });
});

describe("deliveries", () => {
  test("reads the delivery id of each scheme", () => {
    const read = (scheme: Parameters<typeof definitionOf>[0], headers: object, payload = {}) =>
      readDeliveryId(definitionOf(scheme, { header: "x" }), headers as never, payload);
    expect(read("standard", { "webhook-id": "msg_1" })).toBe("msg_1");
    expect(read("github", { "x-github-delivery": "72d3162e-cc78" })).toBe("72d3162e-cc78");
    expect(read("stripe", {}, { id: "evt_1" })).toBe("evt_1");
    expect(read("slack", {}, { event_id: "Ev1" })).toBe("Ev1");
    expect(read("shopify", { "x-shopify-webhook-id": "b545" })).toBe("b545");
    expect(read("shopify", { "shopify-webhook-id": "b545" })).toBe("b545");
    for (const scheme of ["hmac", "token"] as const) {
      expect(read(scheme, { "webhook-id": "a" }, { id: "a" })).toBeNull();
    }
    expect(read("stripe", {}, { id: 7 })).toBeNull();
    expect(read("github", {})).toBeNull();
  });

  test("shortens long and unprintable ids to distinct ones", () => {
    const read = (id: string) => readDeliveryId(definitionOf("stripe"), {}, { id });
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", minLength: 1 }),
        fc.string({ unit: "binary", minLength: 1 }),
        (a, b) => {
          expect(read(a) === read(b)).toBe(a === b);
          expect(read(a)).toMatch(/^[\x21-\x7e]{1,255}$/);
        },
      ),
    );
    expect(read("x".repeat(256))).not.toBe(read("x".repeat(257)));
  });
});
