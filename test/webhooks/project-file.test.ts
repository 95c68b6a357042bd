/** The keys of webhooks in the project file. */
import { describe, expect, test } from "vitest";
import { parseProjectFile } from "../../project/file/parse.ts";

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
    const allow_from = ["192.0.2.1", "2001:db8::/32"];
    expect(parse({ raw: true, files: "refuse", allow_from }).webhook).toEqual({
      ...plain,
      raw: true,
      files: "refuse",
      allowFrom: allow_from,
    });
  });

  test.each([
    [{ respond: 204 }, /respond must be 200 or 202/],
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
