/** Messages of Amazon SNS: their signature, their certificate and the bounds on fetching it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { snsTopic } from "../../project/sns-topic.ts";
import { type FetchUrl, fetchUrl } from "../../server/webhooks/fetch.ts";
import { readMessage } from "../../server/webhooks/sns/message.ts";
import { isCertificateUrl, isConfirmationUrl } from "../../server/webhooks/sns/url.ts";
import { SnsVerifier } from "../../server/webhooks/sns/verifier.ts";
import fc from "../support/property.ts";
import { definitionOf } from "./signers.ts";
import {
  certificate,
  certificateUrl,
  ecCertificate,
  type Fields,
  host,
  issuer,
  message,
  otherIssuer,
  subscribeUrl,
  topic,
} from "./sns-messages.ts";

const definition = definitionOf("sns", { secrets: [], topic });
const now = Date.now() / 1000;

/** Counts the fetches and answers them with `body`. */
function source(body: string, status = 200): { fetchUrl: FetchUrl; urls: string[] } {
  const urls: string[] = [];
  return {
    urls,
    fetchUrl: async (url) => {
      urls.push(url);
      return { status, body };
    },
  };
}

function check(fields: Fields | string, { body = certificate(), at = now } = {}) {
  const text = typeof fields === "string" ? fields : JSON.stringify(fields);
  return new SnsVerifier(source(body).fetchUrl).verify("org", definition, Buffer.from(text), at);
}

describe("messages", () => {
  test.each(["1", "2"])("of each type are accepted with signature version %s", async (version) => {
    const additions: Fields[] = [
      {},
      { Subject: "Größe" },
      { Subject: null },
      { Type: "SubscriptionConfirmation" },
      { Type: "UnsubscribeConfirmation" },
    ];
    for (const more of additions) {
      expect(await check(message(more, version)), JSON.stringify(more)).toEqual({ ok: true });
    }
  });

  test("with any altered signed field are refused", async () => {
    for (const signed of [message({ Subject: "a" }), message({ Type: "SubscriptionConfirmation" })]) {
      for (const name of ["Message", "MessageId", "Subject", "SubscribeURL", "Token"]) {
        if (signed[name] === undefined) continue;
        expect(await check({ ...signed, [name]: `${signed[name]} ` }), name).toMatchObject({
          rule: "mismatch",
        });
        const { [name]: _removed, ...without } = signed;
        expect((await check(without)).ok, name).toBe(false);
      }
      const moved = new Date((now - 1) * 1000).toISOString();
      expect(await check({ ...signed, Timestamp: moved })).toMatchObject({ rule: "mismatch" });
      expect((await check({ ...signed, Type: "UnsubscribeConfirmation" })).ok).toBe(false);
      expect(await check({ ...signed, SignatureVersion: "1" })).toMatchObject({ rule: "mismatch" });
    }
  });

  test("of another topic, another time or under another key are refused", async () => {
    expect(await check(message({ TopicArn: `${topic}2` }))).toMatchObject({ rule: "mismatch" });
    for (const [days, ok] of [
      [-0.99, true],
      [-1.01, false],
      [0.01, false],
    ] as const) {
      const result = await check(
        message({ Timestamp: new Date((now + days * 86_400) * 1000).toISOString() }),
      );
      expect(result.ok).toBe(ok);
      if (!result.ok) expect(result.rule).toBe("time");
    }
    expect(await check(message({ Timestamp: "yesterday" }))).toMatchObject({ rule: "time" });
    expect((await check(message(), { body: ecCertificate })).ok).toBe(false);
  });

  test("that are malformed are refused without a fetch, whatever they contain", async () => {
    const fetched = source(certificate());
    const verifier = new SnsVerifier(fetched.fetchUrl);
    const value = fc.oneof(fc.string(), fc.constantFrom("1", "2", topic, certificateUrl), fc.jsonValue());
    const names = Object.keys(message({ Type: "SubscriptionConfirmation", Subject: "a" }));
    const fields = fc.dictionary(fc.constantFrom(...names, "__proto__"), value);
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fields.map((each) => Buffer.from(JSON.stringify(each))),
      fields.map((each) => Buffer.from(JSON.stringify({ ...message(), ...each, Signature: "AAAA" }))),
    );
    await fc.assert(
      fc.asyncProperty(body, async (bytes) => {
        expect(typeof readMessage(bytes) === "string" || readMessage(bytes)).toBeTruthy();
        expect((await verifier.verify("org", definition, bytes, now)).ok).toBe(false);
      }),
      { numRuns: 300 },
    );
    expect(fetched.urls).toEqual([]);
  });

  test("of a webhook without a topic are refused", async () => {
    const verifier = new SnsVerifier(source(certificate()).fetchUrl);
    const body = Buffer.from(JSON.stringify(message()));
    expect(await verifier.verify("org", definitionOf("sns"), body, now)).toMatchObject({ rule: "unusable" });
  });
});

describe("certificates", () => {
  test.each([
    ["of all regions", ["sns.amazonaws.com"], true],
    ["of the region", ["sns-signing.eu-west-1.amazonaws.com", "sns.eu-west-1.amazonaws.com"], true],
    ["of another region", ["sns-signing.eu-west-2.amazonaws.com"], false],
    ["of another service", ["s3.amazonaws.com"], false],
    ["of a similar name", ["sns.amazonaws.com.example.com"], false],
  ])("%s", async (_title, names, ok) => {
    expect((await check(message(), { body: certificate(names) })).ok).toBe(ok);
  });

  test("are refused outside their period, without RSA, in a wrong chain, and when they are none", async () => {
    const leaf = certificate();
    expect(await check(message(), { body: certificate(undefined, [-9, -1]) })).toMatchObject({
      reason: expect.stringContaining("not valid at this time"),
    });
    expect((await check(message(), { body: certificate(undefined, [1, 2]) })).ok).toBe(false);
    expect((await check(message(), { body: leaf + issuer })).ok).toBe(true);
    for (const body of [
      ecCertificate,
      leaf + otherIssuer,
      leaf + leaf,
      leaf.repeat(6),
      "",
      "x".repeat(9_999),
    ]) {
      expect(await check(message(), { body })).toMatchObject({ ok: false, rule: "unusable" });
    }
  });

  test("in arbitrary text are refused", async () => {
    const text = fc.oneof(
      fc.string(),
      fc.base64String().map((each) => `-----BEGIN CERTIFICATE-----\n${each}\n-----END CERTIFICATE-----`),
      fc.nat(700).map((at) => certificate().slice(0, at)),
    );
    const body = message();
    await fc.assert(
      fc.asyncProperty(text, async (pem) => {
        expect((await check(body, { body: pem })).ok).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  test("are fetched once, and failed ones not again for a minute", async () => {
    const fetched = source(certificate());
    const verifier = new SnsVerifier(fetched.fetchUrl);
    const body = Buffer.from(JSON.stringify(message()));
    const verify = (at = now) => verifier.verify("org", definition, body, at);
    await Promise.all([verify(), verify(), verify()]);
    await verify();
    expect(fetched.urls).toEqual([certificateUrl]);

    const failing = source("", 404);
    const other = new SnsVerifier(failing.fetchUrl);
    for (const [seconds, count] of [
      [0, 1],
      [59, 1],
      [61, 2],
    ] as const) {
      const result = await other.verify("org", definition, body, now + seconds);
      expect(result).toMatchObject({ rule: "unavailable" });
      expect(failing.urls.length).toBe(count);
    }
  });

  test("are fetched at most twice at a time and ten times a minute for an organization", async () => {
    const urls: string[] = [];
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const verifier = new SnsVerifier(async (url) => {
      urls.push(url);
      await gate;
      throw new Error("unreachable");
    });
    const named = (n: number) => Buffer.from(JSON.stringify(message({ SigningCertURL: `${host}/${n}.pem` })));
    const send = (org: string, n: number) => verifier.verify(org, definition, named(n), now);
    const first = [1, 2, 3, 4].map((n) => send("a", n));
    const another = send("b", 5);
    expect(await Promise.race([first[2], first[3]])).toMatchObject({ rule: "unavailable" });
    expect(urls.length).toBe(3);
    release();
    await Promise.all([...first, another]);
    for (let n = 10; n < 40; n++) await send("a", n);
    expect(urls.length).toBe(11);
    await send("b", 50);
    expect(urls.length).toBe(12);
  });
});

describe("URLs", () => {
  const parsed = snsTopic(topic);
  if (parsed === null) throw new Error("The topic is valid.");

  test.each([`${host}/SimpleNotificationService-ab12.pem`, "https://sns.eu-west-1.amazonaws.com/a.pem"])(
    "%s names a certificate",
    (url) => expect(isCertificateUrl(url, parsed)).toBe(true),
  );

  test.each([
    "http://sns.eu-west-1.amazonaws.com/a.pem",
    "https://sns.us-east-1.amazonaws.com/a.pem",
    "https://sns.eu-west-1.amazonaws.com.cn/a.pem",
    "https://sns.eu-west-1.amazonaws.com:444/a.pem",
    "https://user@sns.eu-west-1.amazonaws.com/a.pem",
    "https://sns.eu-west-1.amazonaws.com@example.com/a.pem",
    "https://example.com/sns.eu-west-1.amazonaws.com/a.pem",
    "https://sns.eu-west-1.amazonaws.com/../a.pem",
    "https://sns.eu-west-1.amazonaws.com/a/b.pem",
    "https://sns.eu-west-1.amazonaws.com/a.pem?b",
    "https://sns.eu-west-1.amazonaws.com/?a.pem",
    "https://sns.eu-west-1.amazonaws.com/a.pem#b.pem",
    "https://sns.eu-west-1.amazonaws.com/%61.pem",
    "https://sns.eu-west-1.amazonaws.com/a.pem\n",
    "https://sns.eu-west-1.amazonaws.com\\a.pem",
    "https://bucket.s3.amazonaws.com/a.pem",
    "HTTPS://sns.eu-west-1.amazonaws.com/a.pem",
    "",
  ])("%s names no certificate", (url) => expect(isCertificateUrl(url, parsed)).toBe(false));

  test("of confirmations are on the topic's host and name the topic", () => {
    const confirms = (url: string) => isConfirmationUrl(url, parsed, topic);
    expect(confirms(subscribeUrl)).toBe(true);
    expect(confirms(subscribeUrl.replace(topic, encodeURIComponent(topic)))).toBe(true);
    for (const [from, to] of [
      ["https", "http"],
      ["eu-west-1.amazonaws", "eu-west-2.amazonaws"],
      ["amazonaws.com/", "amazonaws.com@example.com/"],
      ["amazonaws.com/", "amazonaws.com/a/../"],
      ["ConfirmSubscription", "Unsubscribe"],
      [":orders", ":other"],
      ["&Token=2336412f37fb", ""],
      ["&Token", "&Action=DeleteTopic&Token"],
      ["2336412f37fb", "a#b"],
      ["2336412f37fb", "a b"],
    ] as const) {
      expect(confirms(subscribeUrl.replace(from, to)), to).toBe(false);
    }
  });

  test("never leave the topic's host", () => {
    const part = fc.constantFrom(
      "https://",
      "sns.",
      "eu-west-1",
      ".amazonaws.com",
      "/",
      "@",
      "\\",
      "?",
      "#",
      "%2f",
      "a.pem",
      ":",
      "..",
      "\t",
      "é",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const url = parts.join("");
        if (isCertificateUrl(url, parsed)) expect(new URL(url).host).toBe(parsed.host);
        const query = `${url}Action=ConfirmSubscription&TopicArn=${topic}&Token=1`;
        if (isConfirmationUrl(query, parsed, topic)) expect(new URL(query).host).toBe(parsed.host);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["arn:aws:sns:us-east-1:123456789012:a", "sns.us-east-1.amazonaws.com"],
    ["arn:aws:sns:ap-southeast-2:123456789012:a.fifo", "sns.ap-southeast-2.amazonaws.com"],
    ["arn:aws-cn:sns:cn-north-1:123456789012:a", "sns.cn-north-1.amazonaws.com.cn"],
    ["arn:aws-us-gov:sns:us-gov-west-1:123456789012:a", "sns.us-gov-west-1.amazonaws.com"],
    ["arn:aws:sqs:us-east-1:123456789012:a", null],
    ["arn:aws:sns:example.com/:123456789012:a", null],
    ["arn:aws:sns:us-east-1@evil-1:123456789012:a", null],
    ["arn:aws:sns:us-east-1:1234:a", null],
    ["", null],
  ])("topic %s has the host %s", (arn, expected) => expect(snsTopic(arn)?.host ?? null).toBe(expected));
});

describe("fetchUrl", () => {
  const server = createServer((request, response) => {
    if (request.url === "/redirect") response.writeHead(302, { location: "/" }).end();
    else if (request.url === "/large") response.end("x".repeat(64 * 1024 + 1));
    else response.end("text");
  });
  let base = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  test("reads a body up to 64 KiB and follows no redirect", async () => {
    expect(await fetchUrl(`${base}/`)).toEqual({ status: 200, body: "text" });
    expect((await fetchUrl(`${base}/redirect`)).status).toBe(302);
    await expect(fetchUrl(`${base}/large`)).rejects.toThrow("at most 65536 bytes");
  });
});
