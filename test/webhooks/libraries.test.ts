/** The server and the sender's own library accept and refuse the same requests. */
import https from "node:https";
import { createRequire } from "node:module";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { verifySignature } from "../../server/webhooks/signatures/index.ts";
import { SnsVerifier } from "../../server/webhooks/sns/verifier.ts";
import { type Headers, type Library, libraries } from "./libraries.ts";
import { definitionOf } from "./signers.ts";
import { certificate, certificateUrl, type Fields, message, topic } from "./sns-messages.ts";

const url = "https://hooks.example.com/webhook/org_1/agent/echo/hook?a=1";
async function results(library: Library, body: string, headers: Headers, secret: string, requestUrl = url) {
  const all = {
    ...headers,
    ...(library.contentType !== undefined && { "content-type": library.contentType }),
  };
  const server = verifySignature(
    definitionOf(library.scheme),
    [secret],
    all,
    Buffer.from(body),
    Date.now() / 1000,
    requestUrl,
  );
  let own = true;
  try {
    own = (await library.verify(body, headers, secret, requestUrl)) !== false;
  } catch {
    own = false;
  }
  return { server: server.ok, library: own };
}

describe.each(libraries)("$name", (library) => {
  const { body, secrets } = library;
  const [secret, other] = secrets;
  const neither = { server: false, library: false };

  test("accepts the right request, and refuses another body, key, URL and time", async () => {
    const now = Math.floor(Date.now() / 1000);
    const headers = await library.sign(body, now, url);
    expect(await results(library, body, headers, secret)).toEqual({ server: true, library: true });
    expect(await results(library, body.replace("gr", "rg"), headers, secret)).toEqual(neither);
    expect(await results(library, body, headers, other)).toEqual(neither);
    if (library.scheme === "twilio") {
      expect(await results(library, body, headers, secret, `${url}2`)).toEqual(neither);
    }
    if (library.moveTime !== undefined) {
      expect(await results(library, body, library.moveTime(headers, now + 1), secret)).toEqual(neither);
      const old = await library.sign(body, now - 3_600, url);
      const expected = library.checksTime ? neither : { server: false, library: true };
      expect(await results(library, body, old, secret)).toEqual(expected);
    }
  });
});

test("sendgrid refuses a key that is none, and a signature that is not DER or base64", async () => {
  const library = libraries.find(({ scheme }) => scheme === "sendgrid") as Library;
  const now = Math.floor(Date.now() / 1000);
  const headers = await library.sign(library.body, now, url);
  const check = (secret: string, more: Headers = {}) =>
    verifySignature(
      definitionOf("sendgrid"),
      [secret],
      { ...headers, ...more },
      Buffer.from(library.body),
      now,
      url,
    );
  const name = "x-twilio-email-event-webhook-signature";
  expect(check(library.secrets[0]).ok).toBe(true);
  expect(check("not a key")).toMatchObject({ rule: "mismatch" });
  const notDer = Buffer.from("not DER").toString("base64");
  expect(check(library.secrets[0], { [name]: notDer })).toMatchObject({ rule: "mismatch" });
  expect(check(library.secrets[0], { [name]: "!" })).toMatchObject({ rule: "malformed" });
});

describe("sns-validator", () => {
  const Validator = createRequire(import.meta.url)("sns-validator");
  const { get } = https;
  afterEach(() => {
    https.get = get;
  });

  /** The library fetches the certificate with `https.get`, which answers here without a connection. */
  function validates(fields: Fields): Promise<boolean> {
    https.get = ((_url: string, onResponse: (response: unknown) => void) => {
      onResponse(Object.assign(new PassThrough().end(certificate()), { statusCode: 200 }));
      return new PassThrough();
    }) as unknown as typeof https.get;
    return new Promise((resolve) =>
      new Validator().validate(fields, (error: unknown) => resolve(error === null)),
    );
  }

  test.each(["1", "2"])("agrees on messages of signature version %s", async (version) => {
    const verifier = new SnsVerifier(async () => ({ status: 200, body: certificate() }));
    const definition = definitionOf("sns", { secrets: [], topic });
    const right = message({ Subject: "größe" }, version);
    const confirmation = message({ Type: "SubscriptionConfirmation" }, version);
    const cases: [Fields, boolean][] = [
      [right, true],
      [confirmation, true],
      [{ ...right, Message: "x" }, false],
      [{ ...right, Subject: "x" }, false],
      [{ ...right, Timestamp: new Date(Date.now() - 9_000).toISOString() }, false],
      [{ ...confirmation, Token: "x" }, false],
      [{ ...right, SigningCertURL: certificateUrl.replace("amazonaws.com", "example.com") }, false],
    ];
    for (const [fields, ok] of cases) {
      const result = await verifier.verify(
        "org",
        definition,
        Buffer.from(JSON.stringify(fields)),
        Date.now() / 1000,
      );
      expect({ server: result.ok, library: await validates({ ...fields }) }).toEqual({
        server: ok,
        library: ok,
      });
    }
  });
});
