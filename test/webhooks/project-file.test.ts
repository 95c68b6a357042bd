/** The keys of webhooks in the project file. */
import { describe, expect, test } from "vitest";
import { type SignatureDefinition, signatureSchemes } from "../../project/definition.ts";
import { parseProjectFile } from "../../project/file/parse.ts";
import { schemesWithoutBody } from "../../project/webhook/schemes.ts";
import { signsDeliveryId } from "../../server/webhooks/signatures/index.ts";

function parse(webhook: object) {
  const file = {
    name: "p",
    version: "1",
    agents: [{ name: "a", webhooks: [{ slug: "in", ...webhook }] }],
  };
  const { definition, problems } = parseProjectFile(Buffer.from(JSON.stringify(file)));
  return { webhook: definition?.agents[0]?.webhooks[0], problems: problems.map(({ message }) => message) };
}

describe("payload options", () => {
  test("are kept when they differ from the defaults", () => {
    const plain = { slug: "in", fieldMapping: [], signature: null, idempotency: null, rateLimit: null };
    expect(parse({ raw: false, files: "keep", respond: 202 }).webhook).toEqual(plain);
    expect(parse({ respond: 200 }).webhook).toEqual({ ...plain, respond: 200 });
    const output = { kind: "output", timeoutSeconds: 10 };
    expect(parse({ respond: "output" }).webhook?.respond).toEqual(output);
    expect(parse({ respond: { kind: "output", late: 202 } }).webhook?.respond).toEqual(output);
    const quick = { kind: "output", timeout: 2.5, late: 200 };
    expect(parse({ respond: quick }).webhook?.respond).toEqual({
      kind: "output",
      timeoutSeconds: 2.5,
      late: 200,
    });
    const allow_from = ["192.0.2.1", "2001:db8::/32"];
    expect(parse({ raw: true, files: "refuse", allow_from }).webhook).toEqual({
      ...plain,
      raw: true,
      files: "refuse",
      allowFrom: allow_from,
    });
  });

  test.each([
    [{ respond: 204 }, /respond must be 200, 202, output or a map, not the number 204/],
    [{ respond: ["output"] }, /respond must be 200, 202, output or a map, not a list/],
    [{ respond: { timeout: 3 } }, /respond\.kind is missing/],
    [{ respond: { kind: "outpt" } }, /kind must be output, not the text "outpt"/],
    [{ respond: { kind: "output", timeout: 61 } }, /timeout must be a number from 0\.1 to 60/],
    [{ respond: { kind: "output", late: 204 } }, /late must be 200 or 202, not the number 204/],
    [{ raw: "yes" }, /raw must be true or false/],
    [{ files: "no" }, /files must be keep or refuse/],
    [{ allow_from: [] }, /must list at least one address/],
    [
      { allow_from: ["example.com"] },
      /must be an IP address or a CIDR range, not the text "example.com"|not "example.com"/,
    ],
    [{ allow_from: ["10.0.0.0/33"] }, /must be an IP address or a CIDR range/],
  ])("reports %j", (webhook, message) => {
    expect(parse(webhook).problems.join("\n")).toMatch(message);
  });
});

describe("methods and keep_rejected", () => {
  const signature = { scheme: "github", secret: "S" };

  test("are kept when they differ from the defaults", () => {
    expect(parse({ methods: ["POST"] }).webhook).not.toHaveProperty("methods");
    expect(parse({ methods: ["GET", "POST"] }).webhook?.methods).toEqual(["GET", "POST"]);
    expect(parse({ keep_rejected: true, signature }).webhook?.keepRejected).toBe(true);
    expect(parse({ keep_rejected: false }).webhook).not.toHaveProperty("keepRejected");
  });

  test("GET is refused exactly for schemes that need a body", () => {
    for (const scheme of signatureSchemes) {
      const header = ["hmac", "token"].includes(scheme) ? { header: "x-signature" } : {};
      const { problems } = parse({
        signature: { scheme, secret: "S", ...header },
        handshake: "none",
        methods: ["GET"],
      });
      const refused = problems.some((problem) => problem.includes(`${scheme} signs the body`));
      expect([scheme, refused]).toEqual([scheme, !schemesWithoutBody.includes(scheme)]);
    }
  });

  test.each([
    [{ methods: [] }, /methods must list GET, POST or both/],
    [{ methods: ["PUT"] }, /methods\[0\] must be GET or POST, not the text "PUT"/],
    [{ methods: ["GET", "GET"] }, /methods lists GET twice/],
    [{ methods: "GET" }, /methods must be a list/],
    [{ keep_rejected: true }, /keep_rejected has no effect without a signature/],
    [{ keep_rejected: "yes" }, /keep_rejected must be true or false/],
  ])("reports %j", (webhook, message) => {
    expect(parse(webhook).problems.join("\n")).toMatch(message);
  });
});

describe("idempotency", () => {
  test("takes a header, the behaviour after a failure, or both", () => {
    const idempotencyOf = (idempotency: object) => parse({ idempotency }).webhook?.idempotency;
    expect(idempotencyOf({ header: "X-Id" })).toEqual({ header: "x-id" });
    expect(idempotencyOf({ header: "X-Id", after_failure: "run" })).toEqual({ header: "x-id" });
    expect(idempotencyOf({ after_failure: "replay" })).toEqual({ header: null, afterFailure: "replay" });
  });

  test("refuses a header exactly where the signature covers the delivery id", () => {
    for (const scheme of signatureSchemes) {
      const header = ["hmac", "ed25519", "token"].includes(scheme) ? { header: "x-signature" } : {};
      const key = scheme === "sns" ? { topic: "arn:aws:sns:us-east-1:123456789012:a" } : { secret: "S" };
      const signature = { scheme, ...key, ...header };
      const { problems } = parse({ signature, handshake: "none", idempotency: { header: "x-id" } });
      const refused = problems.some((problem) => problem.includes(`no effect with the scheme ${scheme}`));
      const definition = { ...signature, secrets: [] } as unknown as SignatureDefinition;
      expect([scheme, refused]).toEqual([scheme, signsDeliveryId(definition)]);
    }
  });

  test.each([
    [{}, /must have a header, after_failure, or both/],
    [{ after_failure: "retry" }, /after_failure must be run or replay/],
    [{ heder: "x" }, /did you mean "header"/],
  ])("reports %j", (idempotency, message) => {
    expect(parse({ idempotency }).problems.join("\n")).toMatch(message);
  });
});

describe("handshakes", () => {
  const meta = { scheme: "meta", secret: "META" };

  test("are kept when they are configured", () => {
    expect(parse({ handshake: "dropbox" }).webhook?.handshake).toEqual({ kind: "dropbox", secret: null });
    expect(parse({ signature: meta, handshake: "none" }).webhook?.handshake).toEqual({
      kind: "none",
      secret: null,
    });
    const handshake = { kind: "meta", secret: "VERIFY" };
    expect(parse({ signature: meta, handshake }).webhook?.handshake).toEqual(handshake);
  });

  test.each([
    [{ signature: meta }, /the handshake of meta needs its verify token/],
    [{ handshake: "meta" }, /the handshake of meta needs its verify token/],
    [{ handshake: { kind: "zoom", secret: "A" } }, /secret is for the handshake meta, not zoom/],
    [{ handshake: "slak" }, /did you mean "slack"/],
    [{ handshake: {} }, /kind is missing/],
  ])("reports %j", (webhook, message) => {
    expect(parse(webhook).problems.join("\n")).toMatch(message);
  });
});

describe("field mapping", () => {
  test("takes sources and defaults", () => {
    const field_mapping = {
      "$header.X-Event": "event",
      "=github": "source",
      "issue.title": { parameter: "title", default: "none" },
      labels: { parameter: "labels", default: [] },
      user: { parameter: "user", default: null },
      id: { parameter: "id" },
    };
    expect(parse({ field_mapping }).webhook?.fieldMapping).toEqual([
      { path: "$header.X-Event", parameter: "event" },
      { path: "=github", parameter: "source" },
      { path: "issue.title", parameter: "title", default: "none" },
      { path: "labels", parameter: "labels", default: [] },
      { path: "user", parameter: "user", default: null },
      { path: "id", parameter: "id" },
    ]);
  });

  test.each([
    [{ "$header.": "a" }, /a header name must follow/],
    [{ a: { default: 1 } }, /parameter is missing/],
    [{ a: { parameter: "b", defalt: 1 } }, /did you mean "default"/],
    [{ a: "x", b: { parameter: "x" } }, /both mapped to the parameter "x"/],
  ])("reports %j", (field_mapping, message) => {
    expect(parse({ field_mapping }).problems.join("\n")).toMatch(message);
  });
});
