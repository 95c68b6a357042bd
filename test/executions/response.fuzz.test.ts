/** The rules of responses, which the runner and the server apply. */

import { expect, test } from "vitest";
import { responseProblem, toResponse } from "../../server/executions/runner/response.ts";
import fc from "../support/property.ts";
import { rounds } from "../support/rounds.ts";

const encode = (value: unknown) => toResponse(value, 64);
const plain = "text/plain; charset=utf-8";

test.each<[unknown, object]>([
  [{}, { status: 200, headers: {}, body: "" }],
  [{ body: "hi" }, { status: 200, headers: { "content-type": plain }, body: "hi" }],
  [{ body: { a: 1 } }, { status: 200, headers: { "content-type": "application/json" }, body: '{"a":1}' }],
  [{ body: null }, { status: 200, headers: { "content-type": "application/json" }, body: "null" }],
  [
    { body: "<Response/>", headers: { "Content-Type": "text/xml" } },
    { status: 200, headers: { "content-type": "text/xml" }, body: "<Response/>" },
  ],
  [
    { status: 302, headers: { Location: "https://a.example/?b=c", "Cache-Control": "no-store" } },
    { status: 302, headers: { location: "https://a.example/?b=c", "cache-control": "no-store" }, body: "" },
  ],
  [
    { status: 599, body: "x" },
    { status: 599, headers: { "content-type": plain }, body: "x" },
  ],
])("encodes %j", (value, response) => {
  expect(encode(value)).toEqual(response);
});

test.each<[unknown, RegExp]>([
  ["text", /must be an object of status, headers and body/],
  [null, /must be an object/],
  [[], /must be an object/],
  [{ stauts: 200 }, /a response has status, headers and body, but no stauts/],
  [{ status: 199 }, /status must be a whole number from 200 to 599/],
  [{ status: 600 }, /from 200 to 599/],
  [{ status: 200.5 }, /whole number/],
  [{ status: "200" }, /whole number/],
  [{ status: 204, body: "x" }, /the status 204 must not have a body/],
  [{ status: 304, body: {} }, /the status 304 must not have a body/],
  [{ headers: [] }, /headers must be an object of texts/],
  [{ headers: { a: 1 } }, /the header a must be a text/],
  [{ headers: { "a b": "c" } }, /name of a header must be at most 64 characters of a token, not "a b"/],
  [{ headers: { ":status": "500" } }, /name of a header/],
  [{ headers: { a: "b\r\nset-cookie: c" } }, /printable ASCII without line ends/],
  [{ headers: { a: "b\nc" } }, /without line ends/],
  [{ headers: { a: "\u010a" } }, /printable ASCII/],
  [{ headers: { a: " b" } }, /surrounding blanks/],
  [{ headers: { a: "x".repeat(4097) } }, /may have 4096 characters, but has 4097/],
  [{ headers: { "Set-Cookie": "a=b" } }, /set-cookie applies to the whole origin, which the API shares/],
  [{ headers: { "Clear-Site-Data": '"*"' } }, /whole origin/],
  [{ headers: { "Service-Worker-Allowed": "/" } }, /whole origin/],
  [{ headers: { "Transfer-Encoding": "chunked" } }, /transfer-encoding belongs to the connection/],
  [{ headers: { "Content-Length": "5" } }, /belongs to the connection/],
  [{ headers: { Connection: "close" } }, /belongs to the connection/],
  [{ headers: { "Content-Security-Policy": "default-src *" } }, /is set by the server/],
  [{ headers: { "X-Accel-Redirect": "/internal" } }, /is an instruction to a proxy/],
  [
    { headers: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`a${n}`, ""])) },
    /may have 64 headers, but has 65/,
  ],
  [{ body: "x".repeat(2 ** 20) }, /may have 1048576 bytes as JSON, but has 10\d+/],
  [{ body: "\u0000".repeat(2 ** 18) }, /bytes as JSON/],
  [{ body: () => 1 }, /Cannot store the body as JSON: it is a function/],
  [{ body: { a: Number.NaN } }, /its member a is NaN/],
])("refuses %o", (value, message) => {
  expect(() => encode(value)).toThrow(message);
});

test("an encoded response of any value obeys the rules, as do its headers after encoding", () => {
  const name = fc.oneof(
    fc.string({ maxLength: 70 }),
    fc.constantFrom(
      "Set-Cookie",
      "set-cookie",
      "SET-COOKIE",
      "content-type",
      "x-a",
      "Trailer",
      "__proto__",
      "Cdn-Cache-Control",
    ),
  );
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("a\r\nb", "a\nb", "", " a", "é"),
  );
  const value = fc.record(
    {
      status: fc.oneof(fc.integer({ min: 100, max: 700 }), fc.anything()),
      headers: fc.oneof(fc.dictionary(name, text), fc.anything()),
      body: fc.anything({ withBigInt: true, withDate: true, withMap: true }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(value, fc.anything()), (candidate) => {
      let response: ReturnType<typeof encode>;
      try {
        response = encode(candidate);
      } catch (error) {
        expect(["TypeError", "OutputError"]).toContain((error as Error).name);
        return;
      }
      expect(responseProblem(response)).toBeNull();
      expect(responseProblem(JSON.parse(JSON.stringify(response)))).toBeNull();
      for (const [header, content] of Object.entries(response.headers)) {
        expect(header).toMatch(/^[!-~]+$/);
        expect(header).not.toMatch(/[A-Z]|^set-cookie$|^trailer$/);
        expect(content).toMatch(/^[\t -~]*$/);
      }
    }),
    { numRuns: rounds(500) },
  );
});
