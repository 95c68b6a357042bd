/** The address of a sender behind proxies, compared with the library of Express. */
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../server/config.ts";
import { plainAddress } from "../../server/senders/address.ts";
import { maxForwardedLength, readForwarded } from "../../server/senders/forwarded.ts";
import { Senders } from "../../server/senders/senders.ts";
import { TrustedProxies } from "../../server/senders/trusted-proxies.ts";
import fc from "../support/property.ts";

type Headers = Record<string, string | string[] | undefined>;
const reference = createRequire(import.meta.url)("proxy-addr") as (
  request: { headers: Headers; connection: object },
  trust: readonly string[],
) => string;

const proxies = ["10.0.0.0/8", "192.168.7.1", "2001:db8:aa::/48"];
const senders = new Senders(new TrustedProxies(proxies));
const peer = "10.0.0.1";
const senderOf = (headers: Headers, remoteAddress = peer) =>
  senders.addressOf({ headers, socket: { remoteAddress } });

describe("X-Forwarded-For", () => {
  test.each([
    ["203.0.113.9", "203.0.113.9"],
    ["1.1.1.1, 203.0.113.9", "203.0.113.9"],
    ["203.0.113.9, 10.2.3.4,192.168.7.1", "203.0.113.9"],
    ["10.9.9.9, 10.2.3.4", "10.9.9.9"],
    ["203.0.113.9:41234", "203.0.113.9"],
    ["2001:DB8:0:0::1", "2001:db8::1"],
    ["[2001:db8::1]:41234", "2001:db8::1"],
    ["203.0.113.9, 2001:db8:aa::5", "203.0.113.9"],
    ["203.0.113.9, ::ffff:10.1.2.3", "203.0.113.9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["::ffff:cb00:7109", "203.0.113.9"],
    ["fe80::1%eth0", "fe80::1"],
    ["203.0.113.9, ", "203.0.113.9"],
    ["", peer],
    [" , ", peer],
    ["203.0.113.9, unknown", undefined],
    ["203.0.113.9, _hidden, 10.1.1.1", undefined],
    ["010.1.1.1", undefined],
    ["203.0.113", undefined],
    ["[203.0.113.9]", undefined],
    ["2001:db8::1]:80", undefined],
    ["::1::", undefined],
    [`${"1.1.1.1,".repeat(maxForwardedLength / 8)}203.0.113.9`, undefined],
  ])("%s", (header, address) => {
    expect(senderOf({ "x-forwarded-for": header })).toBe(address);
  });

  test("does not count from a peer that is no trusted proxy", () => {
    for (const other of ["203.0.113.1", "11.0.0.1", "::1", "2001:db8:ab::1"]) {
      expect(senderOf({ "x-forwarded-for": "1.1.1.1", forwarded: "for=1.1.1.1" }, other)).toBe(other);
    }
    expect(senderOf({ "x-forwarded-for": "1.1.1.1" }, "::ffff:10.0.0.1")).toBe("1.1.1.1");
    expect(senderOf({ "x-forwarded-for": "1.1.1.1" }, "::ffff:11.0.0.1")).toBe("11.0.0.1");
  });

  test("agrees with proxy-addr for every chain of addresses and other texts", () => {
    const item = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom("10.0.0.3", "192.168.7.1", "unknown", "a.b"));
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 1, maxLength: 6 }),
        fc.oneof(fc.ipV4(), fc.constant(peer)),
        (chain, from) => {
          const headers = { "x-forwarded-for": chain.join(", ") };
          const expected = reference({ headers, connection: { remoteAddress: from } }, proxies);
          expect(senderOf(headers, from)).toBe(plainAddress(expected) ?? undefined);
        },
      ),
    );
  });
});

describe("Forwarded", () => {
  test.each([
    ["for=203.0.113.9", "203.0.113.9"],
    ["For=1.1.1.1;proto=https, FOR=203.0.113.9;by=10.0.0.1;host=a", "203.0.113.9"],
    ['for="203.0.113.9:4711"', "203.0.113.9"],
    ['for="[2001:db8:cafe::17]:4711"', "2001:db8:cafe::17"],
    ['for="[2001:db8::1]:_port"', "2001:db8::1"],
    ['for="\\2\\0\\3.0.113.9"', "203.0.113.9"],
    ['proto="a,b;for=1.1.1.1";for=203.0.113.9', "203.0.113.9"],
    ["for=203.0.113.9 , for=10.1.1.1", "203.0.113.9"],
    ["for=203.0.113.9;;proto=http;, ,", "203.0.113.9"],
    ["", peer],
    ["for=203.0.113.9, proto=https", undefined],
    ["for=203.0.113.9, for=unknown", undefined],
    ["for=_secret", undefined],
    ["for=203.0.113.9;for=1.1.1.1", undefined],
    ["for=[2001:db8::1]", undefined],
    ['for="203.0.113.9', undefined],
    ["for =203.0.113.9", undefined],
    ["203.0.113.9", undefined],
    ['for="1.1.1.1" x, for=203.0.113.9', undefined],
  ])("%s", (header, address) => {
    expect(senderOf({ forwarded: header })).toBe(address);
  });

  test("reads what it is written from", () => {
    const quote = (text: string) => `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
    const port = fc.oneof(
      fc.constant(""),
      fc.integer({ min: 0, max: 65535 }).map((number) => `:${number}`),
    );
    const node = fc.oneof(
      fc.tuple(fc.ipV4(), port).map(([address, suffix]) => ({ address, text: quote(address + suffix) })),
      fc
        .tuple(fc.ipV6(), port)
        .map(([address, suffix]) => ({ address, text: quote(`[${address}]${suffix}`) })),
      fc.ipV4().map((address) => ({ address, text: address })),
    );
    const other = fc.string({ unit: fc.constantFrom(...'a,;="\\ for') }).map((text) => `host=${quote(text)}`);
    const element = fc.tuple(node, fc.array(other, { maxLength: 2 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 4 }), (elements) => {
        const header = elements.map(([{ text }, pairs, isFirst]) =>
          (isFirst ? [`for=${text}`, ...pairs] : [...pairs, `For=${text}`]).join(";"),
        );
        expect(readForwarded(header.join(", "))).toEqual(
          elements.map(([{ address }]) => plainAddress(address)),
        );
      }),
    );
  });
});

describe("both headers", () => {
  test("name the sender when they agree", () => {
    const forwarded = 'for="[2001:db8::1]:80", for=10.1.1.1';
    expect(senderOf({ "x-forwarded-for": "2001:db8:0::1", forwarded })).toBe("2001:db8::1");
    expect(senderOf({ "x-forwarded-for": ",", forwarded })).toBe("2001:db8::1");
  });

  test("name no sender when they differ", () => {
    expect(senderOf({ "x-forwarded-for": "203.0.113.9", forwarded: "for=1.1.1.1" })).toBe(undefined);
    expect(senderOf({ "x-forwarded-for": "203.0.113.9", forwarded: "?" })).toBe(undefined);
    expect(senderOf({ "x-forwarded-for": "unknown", forwarded: "for=unknown" })).toBe(undefined);
  });

  test("never let a sender choose its address, whichever of them the proxy maintains", () => {
    const real = "198.51.100.7";
    const piece = fc.oneof(
      fc.constantFrom("for=", "1.1.1.1", '"', "\\", ",", ";", "=", " ", "10.0.0.2", "[::1]", ":80", "host="),
      fc.string({ maxLength: 5 }),
    );
    const header = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
    const mine = fc.option(header, { nil: undefined });
    const appended = fc.constantFrom(
      "for=198.51.100.7",
      'for="198.51.100.7:80";proto=https',
      'by="[::1]";for=198.51.100.7',
    );
    fc.assert(
      fc.property(mine, mine, appended, fc.boolean(), (sent, other, added, isStandard) => {
        const [line, name, rest] = isStandard
          ? [added, "forwarded", "x-forwarded-for"]
          : [real, "x-forwarded-for", "forwarded"];
        const headers = { [name]: sent === undefined ? line : `${sent}, ${line}`, [rest]: other };
        expect([real, undefined]).toContain(senderOf(headers));
      }),
      { numRuns: 2_000 },
    );
  });
});

test("SVC_TRUSTED_PROXIES takes addresses and ranges, and refuses other texts", () => {
  const read = (text: string) => loadConfig({}, { SVC_TRUSTED_PROXIES: text }).trustedProxies;
  expect(read("")).toEqual([]);
  expect(read(" 127.0.0.1, ::1 ,10.0.0.0/8,2001:db8::/32")).toEqual([
    "127.0.0.1",
    "::1",
    "10.0.0.0/8",
    "2001:db8::/32",
  ]);
  for (const wrong of ["proxy.example.com", "10.0.0.0/33", "0.0.0.0/0", "::/0", "::ffff:10.0.0.1"]) {
    expect(() => read(`127.0.0.1,${wrong}`)).toThrow(wrong);
  }
});
