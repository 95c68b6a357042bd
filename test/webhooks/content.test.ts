import { describe, expect, test } from "vitest";
import { readContent } from "../../server/webhooks/content/index.ts";
import { contentKindOf } from "../../server/webhooks/content/kind.ts";
import { rawPayload } from "../../server/webhooks/content/raw.ts";
import fc from "../support/property.ts";
import { rounds } from "../support/rounds.ts";

const options = { depth: 8, files: true };

async function read(contentType: string | undefined, body: string | Uint8Array, headers = {}) {
  const all = { ...headers, ...(contentType !== undefined && { "content-type": contentType }) };
  const content = readContent(contentKindOf(contentType), Buffer.from(body as string), all, options);
  if (!content.ok) return content.message;
  expect(JSON.parse(content.text)).toEqual(content.value);
  return content.value;
}

const form = "application/x-www-form-urlencoded";

describe("content types", () => {
  test.each([
    ["application/json", "json"],
    ["Application/JSON; charset=utf-8", "json"],
    ["text/json", "json"],
    ["application/vnd.api+json", "json"],
    [form, "form"],
    ["application/x-www-form-urlencoded; charset=UTF-8", "form"],
    ["multipart/form-data; boundary=x", "multipart"],
    ["text/plain", "text"],
    ["text/xml; charset=us-ascii", "text"],
    ["application/xml", "text"],
    ["application/atom+xml", "text"],
    ["", "untyped"],
    [undefined, "untyped"],
    ["image/png", null],
    ["application/json; charset=utf-16", null],
    ["text/plain; charset=iso-8859-1", null],
    ["application/jsonp", null],
    ["text", null],
  ])("%s", (type, kind) => {
    expect(contentKindOf(type)).toBe(kind);
  });
});

describe("JSON", () => {
  test("wraps arrays and scalars", async () => {
    expect(await read("application/json", "[1]")).toEqual({ payload: [1] });
    expect(await read("text/json", "null")).toEqual({ payload: null });
    expect(await read("application/json", '"a"')).toEqual({ payload: "a" });
    expect(await read("text/json", '{"a":1}')).toEqual({ a: 1 });
    expect(await read("application/json", `${"[".repeat(8)}${"]".repeat(8)}`)).toMatch(/8 levels/);
  });

  test("is read without a content type, and as SNS sends it", async () => {
    expect(await read(undefined, '{"a":1}')).toEqual({ a: 1 });
    expect(await read(undefined, "a=1")).toEqual({ payload: "a=1" });
    expect(await read(undefined, "")).toEqual({});
    expect(await read(undefined, Uint8Array.of(0xff))).toMatch(/UTF-8/);
    const sns = { "x-amz-sns-message-type": "Notification" };
    expect(await read("text/plain; charset=UTF-8", '{"Type":"Notification"}', sns)).toEqual({
      Type: "Notification",
    });
  });
});

describe("forms", () => {
  test("become objects with lists for repeated names", async () => {
    expect(await read(form, "text=a+b%21&user=1&tag=x&tag=y&empty=&%F0%9F%98%80=1")).toEqual({
      text: "a b!",
      user: "1",
      tag: ["x", "y"],
      empty: "",
      "😀": "1",
    });
    expect(await read(form, "")).toEqual({});
    const value = (await read(form, "__proto__=1&constructor=2")) as object;
    expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
  });

  test("with JSON in their only field, payload, are unwrapped", async () => {
    const payload = (text: string) => `payload=${encodeURIComponent(text)}`;
    expect(await read(form, payload('{"action":"opened"}'))).toEqual({ action: "opened" });
    expect(await read(form, payload("[1]"))).toEqual({ payload: [1] });
    expect(await read(form, payload("5"))).toEqual({ payload: "5" });
    expect(await read(form, payload("{"))).toEqual({ payload: "{" });
    expect(await read(form, `${payload("{}")}&a=1`)).toEqual({ payload: "{}", a: "1" });
    expect(await read(form, payload(`${'{"a":'.repeat(9)}1${"}".repeat(9)}`))).toMatch(/8 levels/);
  });

  test("are limited to 1000 fields", async () => {
    expect(Object.keys((await read(form, "a=1&".repeat(999))) as object)).toEqual(["a"]);
    expect(await read(form, "a=1&".repeat(1000))).toMatch(/1000 fields/);
  });
});

describe("multipart", () => {
  const type = "multipart/form-data; boundary=----x";
  const part = (name: string, value: string, more = "") =>
    `------x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
  const end = "------x--\r\n";

  test("has fields, repeated fields and files", async () => {
    const file = part("doc", "\u00e9", '; filename="a.txt"\r\nContent-Type: text/plain');
    const body = part("from", "a@b") + part("to", "c") + part("to", "d") + file + end;
    expect(await read(type, body)).toEqual({
      from: "a@b",
      to: ["c", "d"],
      doc: {
        filename: "a.txt",
        content_type: expect.stringMatching(/^text\/plain/),
        size: 2,
        base64: "w6k=",
      },
    });
    expect(await read(type, part("payload", '{"a":1}') + end)).toEqual({ a: 1 });
  });

  test("may be refused for its files", async () => {
    const body = Buffer.from(part("doc", "x", '; filename="a.txt"\r\nContent-Type: text/plain') + end);
    const headers = { "content-type": type };
    const content = readContent("multipart", body, headers, { depth: 8, files: false });
    expect(content).toEqual({ ok: false, message: "The webhook does not accept files." });
  });

  test("must have its boundary, and at most 1000 parts", async () => {
    expect(await read("multipart/form-data", end)).toMatch(/boundary/);
    expect(await read(type, "x")).toMatch(/boundary/);
    expect(await read(type, part("a", "1").repeat(1001) + end)).toMatch(/1000 fields/);
    expect(await read(type, part("a", "1"))).toMatch(/boundary/);
    expect(await read(type, part("a", "1").replace("name", "nome") + end)).toMatch(/name/);
  });

  test("may have a preamble, quoted parameters and empty parts", async () => {
    const body = `preamble\r\n${part("a%22b", "")}${part("c", "\r\n--x")}${end}epilogue`;
    expect(await read(type, body)).toEqual({ 'a"b': "", c: "\r\n--x" });
    expect(await read(type, end)).toEqual({});
    const short = "--xYzZY\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--xYzZY--";
    expect(await read('multipart/form-data; boundary="xYzZY"', short)).toEqual({ a: "1" });
  });
});

describe("text and XML", () => {
  test("become the payload", async () => {
    expect(await read("text/plain", "{}")).toEqual({ payload: "{}" });
    expect(await read("application/xml", "<a>ä</a>")).toEqual({ payload: "<a>ä</a>" });
    expect(await read("text/plain", Uint8Array.of(0xff))).toMatch(/UTF-8/);
  });
});

describe("CloudEvents", () => {
  const attributes = {
    "ce-specversion": "1.0",
    "ce-id": "A234-1234",
    "ce-source": "/my%20context",
    "ce-type": "com.example.event",
    "ce-note": "%E0%",
  };
  const event = {
    specversion: "1.0",
    id: "A234-1234",
    source: "/my context",
    type: "com.example.event",
    note: "%E0%",
  };

  test("in binary mode have the form of structured mode", async () => {
    const json = "application/json";
    expect(await read(json, "[1]", attributes)).toEqual({ ...event, datacontenttype: json, data: [1] });
    expect(await read("text/xml", "<a/>", attributes)).toEqual({
      ...event,
      datacontenttype: "text/xml",
      data: "<a/>",
    });
    expect(await read("image/png", Uint8Array.of(0xff), attributes)).toEqual({
      ...event,
      datacontenttype: "image/png",
      data_base64: "/w==",
    });
    expect(await read(undefined, "", attributes)).toEqual(event);
    expect(await read(json, "{", attributes)).toMatch(/must be JSON/);
    expect(await read(json, "{}", { ...attributes, "ce-id": undefined })).toMatch(/ce-id/);
    expect(await read("application/cloudevents+json", JSON.stringify(event))).toEqual(event);
  });
});

describe("a raw payload", () => {
  test("has the headers, the query and the body", () => {
    const { value, text } = rawPayload({ "x-a": "1" }, "/hook?a=1&a=2&b=%C3%A4", Buffer.from("a=b"));
    expect(value).toEqual({ headers: { "x-a": "1" }, query: { a: ["1", "2"], b: "ä" }, body: "a=b" });
    expect(JSON.parse(text)).toEqual(value);
    expect(rawPayload({}, "/hook", Uint8Array.of(0xff)).value).toEqual({
      headers: {},
      query: {},
      body: "/w==",
      body_is_base64: true,
    });
  });
});

test("any bytes of any type give a payload or a sentence", async () => {
  const types = [
    "application/json",
    form,
    "multipart/form-data; boundary=x",
    "text/plain",
    undefined,
    'multipart/form-data; boundary="-_ \' x"',
  ];
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc
      .constantFrom(
        "--x\r\n",
        "--x--",
        '\r\nContent-Disposition: form-data; name="a"',
        '; filename="',
        "\r\n\r\n",
        "payload=",
        "%",
        "&",
        "=",
        "{",
        "[",
        '"',
        "__proto__",
      )
      .map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...types),
      fc.array(piece, { maxLength: 20 }),
      fc.boolean(),
      async (type, pieces, isEvent) => {
        const headers = isEvent
          ? { "ce-specversion": "1.0", "ce-id": "1", "ce-source": "%", "ce-type": "t" }
          : {};
        const result = await read(type, Buffer.concat(pieces), headers);
        if (typeof result === "string") expect(result).toMatch(/^(The|A|Each) .*\.$/);
      },
    ),
    { numRuns: rounds(500) },
  );
});

test("a large hostile body takes less than a second of processor time", async () => {
  const size = 1024 ** 2;
  const bodies: [string, string][] = [
    [form, "a&".repeat(size / 2)],
    [form, "%".repeat(size)],
    ["multipart/form-data; boundary=x", "--x\r\n".repeat(size / 5)],
    ["multipart/form-data; boundary=x", `--x\r\nContent-Disposition: form-data; name="${"\\".repeat(size)}`],
    ["multipart/form-data; boundary=x", `--x\r\n${"a:b\r\n".repeat(size / 5)}`],
    ["text/plain", "\u0001".repeat(size)],
    [undefined as never, "[".repeat(size)],
  ];
  for (const [type, body] of bodies) {
    const before = process.cpuUsage();
    await read(type, body);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000, `${type} ${body.slice(0, 20)}`).toBeLessThan(1000);
  }
});
