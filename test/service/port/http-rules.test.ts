/** The rules of google/api/http.proto, on a contract that has every form of them. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileRegistry, fromBinary, type Message, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sendError } from "../../../server/routes/answer.ts";
import { createLocalCalls } from "../../../server/routes/internal/local-calls.ts";
import { notAllowed } from "../../../server/routes/methods.ts";
import { RuleTable, rulesOf } from "../../../server/routes/rest/http-rule.ts";
import { parseTemplate } from "../../../server/routes/rest/template.ts";
import { createTranscoder } from "../../../server/routes/rest/transcode.ts";
import { bin, root } from "../../support/runtimes.ts";

const limits = { webhookBytes: 10_000, jsonDepth: 16 };
const desc = describeRules();
const received: { method: string; message: unknown }[] = [];
const server = createServer(createHandler());
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

type Fields = Record<string, unknown>;
type Case = [request: string, method: string, message: Fields, body?: string];
type Refusal = [request: string, status: number, message: RegExp, body?: string];

const query = (text: string, message: Fields): Case => [`GET /v1/query?${text}`, "Query", message];

test.each<Case>([
  // Scalars.
  query("", {}),
  query("text=a", { text: "a" }),
  query("text=", {}),
  query("text=a%20b%26c%3D%2F", { text: "a b&c=/" }),
  query("text=a+b", { text: "a b" }),
  query("text=%C3%A4", { text: "ä" }),
  query("int32=-5", { int32: -5 }),
  query("int64=9007199254740993", { int64: "9007199254740993" }),
  query("int64=-9223372036854775808", { int64: "-9223372036854775808" }),
  query("uint64=18446744073709551615", { uint64: "18446744073709551615" }),
  query("double=1.5", { double: 1.5 }),
  query("double=-1e3", { double: -1000 }),
  query("double=Infinity", { double: "Infinity" }),
  query("double=NaN", { double: "NaN" }),
  query("flag=true", { flag: true }),
  query("flag=false", {}),
  query("data=aGk=", { data: "aGk=" }),
  query("data=-_8", { data: "+/8=" }),
  query("kind=KIND_AGENT", { kind: "KIND_AGENT" }),
  query("kind=2", { kind: "KIND_WORKFLOW" }),
  query("maybe=", { maybe: "" }),
  query("left=a", { left: "a" }),
  // Repeated fields.
  query("texts=a", { texts: ["a"] }),
  query("texts=a&texts=b&texts=a", { texts: ["a", "b", "a"] }),
  query("texts=a,b", { texts: ["a,b"] }),
  query("texts=", { texts: [""] }),
  query("numbers=1&numbers=9007199254740993", { numbers: ["1", "9007199254740993"] }),
  query("kinds=KIND_AGENT&kinds=2", { kinds: ["KIND_AGENT", "KIND_WORKFLOW"] }),
  // Messages.
  query("sub.text=a", { sub: { text: "a" } }),
  query("sub.text=a&sub.number_count=2", { sub: { text: "a", number_count: 2 } }),
  query("sub.numberCount=2", { sub: { number_count: 2 } }),
  query("sub.inner.inner.text=deep", { sub: { inner: { inner: { text: "deep" } } } }),
  query("sub.flags=true&sub.flags=false", { sub: { flags: [true, false] } }),
  query("sub.kind=1&sub.inner.kind=KIND_AGENT", {
    sub: { kind: "KIND_AGENT", inner: { kind: "KIND_AGENT" } },
  }),
  // Well-known types and both spellings.
  query("at=2026-01-31T12:00:00Z", { at: "2026-01-31T12:00:00Z" }),
  query("at=2026-01-31T12:00:00.5%2B01:00", { at: "2026-01-31T11:00:00.500Z" }),
  query("wait_time=1.5s", { wait_time: "1.500s" }),
  query("waitTime=-3s", { wait_time: "-3s" }),
  query("update_mask=text,sub.numberCount", { update_mask: "text,sub.numberCount" }),
  query("update_mask=text,sub.number_count", { update_mask: "text,sub.numberCount" }),
  query("text_value=a", { text_value: "a" }),
  query("text_value=", { text_value: "" }),
  query("flag_value=false", { flag_value: false }),
  query("number_value=9007199254740993", { number_value: "9007199254740993" }),
  query("text_value=a&flagValue=true", { text_value: "a", flag_value: true }),
  // Variables of one segment.
  ["GET /v1/messages/a", "GetMessage", { text: "a" }],
  ["GET /v1/messages/a%2Fb", "GetMessage", { text: "a/b" }],
  ["GET /v1/messages/a%2fb%20c%25", "GetMessage", { text: "a/b c%" }],
  ["GET /v1/messages/a+b", "GetMessage", { text: "a+b" }],
  ["GET /v1/messages/a:b", "GetMessage", { text: "a:b" }],
  ["GET /v1/messages/..", "GetMessage", { text: ".." }],
  ["GET /v1/messages/%E2%82%AC?int32=1", "GetMessage", { text: "€", int32: 1 }],
  ["GET /v1/messages/a?sub.text=b", "GetMessage", { text: "a", sub: { text: "b" } }],
  ["GET /v1/mess%61ges/a", "GetMessage", { text: "a" }],
  ["GET /v1/messages/latest", "GetLiteral", {}],
  ["GET /v1/messages/latest2", "GetMessage", { text: "latest2" }],
  // Additional bindings and nested variables.
  ["GET /v1/users/me/messages/1", "GetMessage", { sub: { text: "me" }, text: "1" }],
  [
    "GET /v1/users/me/messages/1?sub.number_count=3",
    "GetMessage",
    { sub: { text: "me", number_count: 3 }, text: "1" },
  ],
  ["GET /v1/numbers/9007199254740993", "GetMessage", { int64: "9007199254740993" }],
  ["GET /v1/kinds/KIND_AGENT/flags/true", "GetMessage", { kind: "KIND_AGENT", flag: true }],
  ["GET /v1/kinds/2/flags/false", "GetMessage", { kind: "KIND_WORKFLOW" }],
  // Variables of several segments, and wildcards.
  ["GET /v1/shelves/1/books/2", "GetNamed", { text: "shelves/1/books/2" }],
  ["GET /v1/shelves/a%2Fb/books/c%20d", "GetNamed", { text: "shelves/a%2Fb/books/c d" }],
  ["GET /v1/files/a/b/c.txt", "GetFile", { text: "a/b/c.txt" }],
  ["GET /v1/files/a%2fb/%C3%A4", "GetFile", { text: "a%2fb/ä" }],
  ["GET /v1/files", "GetFile", {}],
  ["GET /v1/trees", "GetTree", { text: "trees" }],
  ["GET /v1/trees/a/b", "GetTree", { text: "trees/a/b" }],
  ["GET /v1/groups/any/users/u", "AnyUser", { text: "u" }],
  // Custom verbs and methods.
  ["POST /v1/messages/a:cancel", "Cancel", { text: "a" }, "{}"],
  ["POST /v1/messages/a:b:cancel", "Cancel", { text: "a:b" }, "{}"],
  ["PURGE /v1/messages/a", "Purge", { text: "a" }],
  ["DELETE /v1/messages/a?flag=true", "Delete", { text: "a", flag: true }],
  // Bodies.
  ["POST /v1/messages/a:cancel", "Cancel", { text: "a", int32: 1 }, '{"int32":1}'],
  ["POST /v1/messages/a:cancel", "Cancel", { text: "a" }, '{"text":"other"}'],
  [
    "POST /v1/messages/a:cancel",
    "Cancel",
    { text: "a", int64: "9007199254740993" },
    '{"int64":"9007199254740993"}',
  ],
  ["POST /v1/messages/a:cancel", "Cancel", { text: "a", int64: "12" }, '{"int64":12}'],
  ["POST /v1/messages/a:cancel", "Cancel", { text: "a", wait_time: "2s" }, '{"waitTime":"2s"}'],
  [
    "POST /v1/messages/a:cancel",
    "Cancel",
    { text: "a", object: { n: 9007199254740991, s: '\\"9007199254740993' } },
    '{"object":{"n":9007199254740991,"s":"\\\\\\"9007199254740993"}}',
  ],
  ["PATCH /v1/messages/a", "Update", { text: "a", sub: { text: "b" } }, '{"text":"b"}'],
  ["PATCH /v1/messages/a?int32=3", "Update", { text: "a", int32: 3, sub: {} }, "{}"],
  ["PATCH /v1/messages/a?update_mask=text", "Update", { text: "a", sub: {}, update_mask: "text" }, "{}"],
  [
    "PUT /v1/messages/a",
    "Replace",
    { sub: { text: "a", number_count: 2 } },
    '{"sub":{"text":"b","numberCount":2}}',
  ],
  ["PUT /v1/messages/a", "Replace", { sub: { text: "a" }, text: "b" }, '{"text":"b"}'],
])("%s calls %s", async (request, method, message, body) => {
  const { status, text } = await send(request, body);
  expect([status, received.at(-1)], text).toEqual([200, { method, message }]);
});

test.each<Refusal>([
  ["GET /v1/query?nothing=1", 400, /'nothing'.*no such parameter/],
  ["GET /v1/query?sub.nothing=1", 400, /'sub\.nothing'/],
  ["GET /v1/query?text.x=1", 400, /'text\.x'/],
  ["GET /v1/query?sub=1", 400, /'sub'/],
  ["GET /v1/query?subs.text=1", 400, /'subs\.text'/],
  ["GET /v1/query?subs=1", 400, /'subs'/],
  ["GET /v1/query?labels.a=1", 400, /'labels\.a'/],
  ["GET /v1/query?labels=1", 400, /'labels'/],
  ["GET /v1/query?object=1", 400, /'object'/],
  ["GET /v1/query?text=a&text=b", 400, /'text'.*only once/],
  ["GET /v1/query?wait_time=1s&waitTime=2s", 400, /only once/],
  ["GET /v1/query?left=a&right=b", 400, /Cannot/],
  ["GET /v1/query?int32=2147483648", 400, /int32/],
  ["GET /v1/query?int32=1.5", 400, /int32/],
  ["GET /v1/query?int32=", 400, /int32/],
  ["GET /v1/query?int64=9223372036854775808", 400, /int64/],
  ["GET /v1/query?uint64=-1", 400, /uint64/],
  ["GET /v1/query?double=abc", 400, /double/],
  ["GET /v1/query?flag=yes", 400, /flag: it must be true or false, not 'yes'/],
  ["GET /v1/query?flag=True", 400, /flag: it must be true or false, not 'True'/],
  ["GET /v1/query?flag=1", 400, /flag: it must be true or false, not '1'/],
  ["GET /v1/query?flag", 400, /flag: it must be true or false, not ''/],
  ["GET /v1/query?kind=agent", 400, /kind/],
  ["GET /v1/query?data=%25", 400, /data/],
  ["GET /v1/query?at=yesterday", 400, /RFC 3339/],
  ["GET /v1/query?wait_time=2", 400, /wait_time/],
  ["GET /v1/query?sub.number_count=x", 400, /sub\.number_count/],
  [`GET /v1/query?${"sub.".repeat(1)}${"inner.".repeat(30)}text=1`, 400, /no such parameter/],
  ["GET /v1/messages/a?text=b", 400, /'text'/],
  ["GET /v1/users/me/messages/1?sub.text=b", 400, /'sub\.text'/],
  ["GET /v1/numbers/x", 400, /int64/],
  ["GET /v1/kinds/none/flags/true", 400, /kind/],
  ["POST /v1/messages/a:cancel?int32=1", 400, /send it in the body/, "{}"],
  ["PATCH /v1/messages/a?sub.text=b", 400, /'sub\.text'/, "{}"],
  ["POST /v1/messages/a:cancel", 400, /int64 .*string/, '{"int64":9007199254740993}'],
  [
    "POST /v1/messages/a:cancel",
    400,
    /numberCount .*string/,
    '{"sub":{"text":"9007199254740993","numberCount":-12345678901234567}}',
  ],
  ["POST /v1/messages/a:cancel", 400, /nothing/, '{"nothing":1}'],
  ["GET /v1/messages/", 404, /./],
  ["GET /v1/messages", 404, /./],
  ["GET /v1/messages/%zz", 404, /./],
  ["GET /v1/messages/a/b", 404, /./],
  ["GET /v1/shelves/1/books", 404, /./],
  ["GET /v2/messages/a", 404, /./],
  ["POST /v1/messages/a", 405, /DELETE or GET or PATCH or PURGE or PUT/, "{}"],
  ["DELETE /v1/messages/latest:cancel2", 200, /./],
])("%s is refused with %i", async (request, status, message, body) => {
  const answer = await send(request, body);
  expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(message)]);
});

test("sends the field of the response that the rule names", async () => {
  const { text } = await send("GET /v1/part?sub.text=b");
  expect(JSON.parse(text)).toMatchObject({ text: "b", number_count: 0 });
});

test.each([
  "v1/x",
  "/v1/",
  "/v1//x",
  "/v1/{text",
  "/v1/{text}x",
  "/v1/{none}",
  "/v1/{texts}",
  "/v1/{sub}",
  "/v1/{text={sub.text}}",
  "/v1/{text=**}/x",
  "/v1/a*",
])("rejects the template %s", (template) => {
  const input = desc.methods[0]?.input;
  if (input === undefined) throw new Error("The contract has no method.");
  expect(() => parseTemplate(template, input)).toThrow(`'${template}'`);
});

async function send(request: string, body?: string): Promise<{ status: number; text: string }> {
  const [method = "", path = ""] = request.split(" ");
  const headers = { "content-type": "application/json" };
  // `fetch` would resolve `..`, which a server must not rely on.
  const { request: open } = await import("node:http");
  return new Promise((resolve, reject) => {
    const call = open(`${url}`, { method, path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    call.once("error", reject).end(body);
  });
}

function createHandler(): Parameters<typeof createServer>[1] {
  const implementation = Object.fromEntries(
    desc.methods.map(({ localName, name, input }) => [
      localName,
      (message: Message) => {
        received.push({ method: name, message: toJson(input, message, { useProtoFieldName: true }) });
        return message;
      },
    ]),
  );
  const calls = createLocalCalls((router) => router.service(desc, implementation as never), []);
  const rules = new RuleTable(rulesOf(desc));
  const authenticator = { authorize: async () => null };
  const transcode = createTranscoder({
    calls,
    authenticator,
    senderOf: () => ({ address: null, isProxyIgnored: false }),
    limits,
    report: (error) => console.error(error),
  });
  return (request, response) => {
    const [path = "", text] = (request.url ?? "/").split("?");
    const match = rules.match(request.method ?? "", path);
    if (match === null) return void response.writeHead(404).end("none");
    if ("allow" in match) return sendError(response, notAllowed(request, match.allow) as never);
    void transcode(request, response, match, new URLSearchParams(text));
  };
}

/** Compiles the contract of the tests. */
function describeRules() {
  const folder = mkdtempSync(join(tmpdir(), "svc-rules-"));
  try {
    cpSync(join(root, "test/fixtures/http-rules"), join(folder, "proto"), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const google = "node_modules/google-proto-files";
    const excluded = [
      "apikeys",
      "cloudquotas",
      "expr",
      "servicecontrol",
      "servicemanagement",
      "serviceusage",
    ];
    const lines = [
      "version: v2",
      "modules:",
      "  - path: proto",
      `  - path: ${google}`,
      `    includes: [${google}/google/api]`,
      `    excludes: [${excluded.map((name) => `${google}/google/api/${name}`).join(", ")}]`,
    ];
    writeFileSync(join(folder, "buf.yaml"), lines.join("\n"));
    const bytes = execFileSync(bin("buf"), ["build", "proto", "--as-file-descriptor-set", "-o", "-"], {
      cwd: folder,
    });
    const service = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes)).getService(
      "test.rules.v1.Rules",
    );
    if (service === undefined) throw new Error("The contract has no service.");
    return service;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
