import { describe, expect, test } from "vitest";
import { parseProjectFile } from "../../project/file/parse.ts";
import { isAllowedHost, parseHostPattern } from "../../project/hosts.ts";

describe("a host pattern", () => {
  test.each([
    ["api.github.com", { host: "api.github.com", subdomains: false, port: null }],
    ["API.GitHub.com", { host: "api.github.com", subdomains: false, port: null }],
    ["*.stripe.com", { host: "stripe.com", subdomains: true, port: null }],
    ["*.stripe.com:443", { host: "stripe.com", subdomains: true, port: 443 }],
    ["db.example.com:5432", { host: "db.example.com", subdomains: false, port: 5432 }],
    ["localhost", { host: "localhost", subdomains: false, port: null }],
    ["xn--bcher-kva.example", { host: "xn--bcher-kva.example", subdomains: false, port: null }],
    ["203.0.113.7:80", { host: "203.0.113.7", subdomains: false, port: 80 }],
    ["[2001:DB8::1]:443", { host: "2001:db8::1", subdomains: false, port: 443 }],
  ])("is %s", (text, expected) => {
    expect(parseHostPattern(text)).toEqual(expected);
  });

  test.each([
    "",
    "*",
    "*.",
    "a.*.example",
    "*a.example",
    "https://a.example",
    "a.example/path",
    "a.example:0",
    "a.example:65536",
    "a.example:",
    "a..example",
    ".example",
    "a.example.",
    "-a.example",
    "a_b.example",
    "user@a.example",
    "a b.example",
    "a.example\n",
    "bücher.example",
    "10.0.0.0/8",
    "2001:db8::1",
    "[2001:db8::1",
    "[zz::1]",
    "[1.2.3]",
    "*.[::1]",
    `${"a".repeat(64)}.example`,
    `${"a.".repeat(150)}example`,
  ])("is not %j", (text) => {
    expect(parseHostPattern(text)).toBeNull();
  });
});

test.each([
  ["api.github.com", 443, true],
  ["API.github.com.", 443, true],
  ["github.com", 443, false],
  ["x.api.github.com", 443, false],
  ["a.stripe.com", 443, true],
  ["a.b.stripe.com", 443, true],
  ["stripe.com", 443, false],
  ["evilstripe.com", 443, false],
  ["db.example.com", 5432, true],
  ["db.example.com", 443, false],
  ["[2001:db8::1]", 1, true],
  ["2001:db8::1", 1, true],
])("%s:%i is allowed: %s", (host, port, expected) => {
  const patterns = ["api.github.com", "*.stripe.com", "db.example.com:5432", "[2001:db8::1]"].flatMap(
    (text) => parseHostPattern(text) ?? [],
  );
  expect(patterns).toHaveLength(4);
  expect(isAllowedHost(patterns, host, port)).toBe(expected);
});

test.each([
  ["", null],
  ["network: []", []],
  ['network: [API.github.com, "*.stripe.com:443"]', ["api.github.com", "*.stripe.com:443"]],
])("reads %j", (line, expected) => {
  const { definition } = parseProjectFile(Buffer.from(`name: demo\nversion: "1"\n${line}\n`));
  expect(definition?.network).toEqual(expected);
});
