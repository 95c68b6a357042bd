/** Properties of paths, addresses and retries. */

import { expect, test } from "vitest";
import { specialAddress } from "../../plugin/address.ts";
import { RestError } from "../../plugin/error.ts";
import { joinPath, parseBaseUrl } from "../../plugin/path.ts";
import { parseRetryAfter, retryDelayMs } from "../../plugin/retry.ts";
import fc from "../support/property.ts";

const bases = ["https://api.example.com", "https://api.example.com/v1/", "http://[::1]:8080/a%20b/c"].map(
  parseBaseUrl,
);

/** Parts of hostile and ordinary paths. */
const piece = fc.constantFrom(
  ..."/ // \\ . .. ... ..; ;a=b @ : ? # % & = + ~ a users %2e %2E %2f %5c %252e %25 %c0%ae %00 %0a %09 \n \t \0".split(
    " ",
  ),
  " ",
  "\u00a0",
  "\uff0e",
  "\uff0f",
  "\u2025",
  "http:",
  "https://evil.example",
  "evil.example",
  "é",
  "\ud800",
);
const paths = fc.oneof(
  fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.webPath(),
  fc.webUrl(),
);

test("joins any path below the base URL or refuses it", () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.constantFrom(...bases), paths, (base, path) => {
      let joined: string;
      try {
        joined = joinPath(base, path);
      } catch (error) {
        return error instanceof RestError && error.code === "invalid_argument";
      }
      accepted++;
      const url = new URL(joined);
      expect(url.origin).toBe(base.origin);
      expect(url.username + url.password + url.hash).toBe("");
      expect(`${url.pathname}/`.startsWith(base.prefix)).toBe(true);
      for (let decoded = url.pathname, round = 0; round < 6; round++) {
        expect(decoded.split(/[/\\]/)).not.toContain("..");
        decoded = decoded.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
          String.fromCharCode(Number.parseInt(hex, 16)),
        );
      }
      // The result is that of the URL standard for the concatenated base and path.
      const slash = path === "" || path.startsWith("?") || path.startsWith("/") ? "" : "/";
      const standard = new URL(base.href + slash + path).href;
      expect([standard, standard.replace(/\?$/, "")]).toContain(joined);
    }),
    { numRuns: 5000 },
  );
  expect(accepted).toBeGreaterThan(500);
});

test("keeps the path unchanged for any parameters", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.jsonValue())), (params) => {
      const [base] = bases;
      if (!base) return;
      const url = new URL(joinPath(base, "/users?fixed=1", params));
      expect(url.pathname + url.hash).toBe("/users");
      expect(url.searchParams.get("fixed")).toBe("1");
      for (const [name, value] of Object.entries(params)) {
        if (typeof value === "string" && name !== "fixed") {
          expect(url.searchParams.getAll(name)).toContain(value.toWellFormed());
        }
      }
    }),
  );
});

const ipv4 = fc.tuple(...new Array(4).fill(fc.integer({ min: 0, max: 255 }))).map((bytes) => bytes.join("."));

test("classifies an IPv4 address embedded in NAT64 like the address itself", () => {
  fc.assert(
    fc.property(ipv4, (address) => {
      expect(specialAddress(`64:ff9b::${address}`) === null).toBe(specialAddress(address) === null);
      expect(specialAddress(`::ffff:${address}`)).not.toBe(null);
      expect(specialAddress(`::${address}`)).not.toBe(null);
    }),
  );
});

test("parses each format of Retry-After", () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 7);
  for (const date of [
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
  ]) {
    expect(parseRetryAfter(date, now)).toBe(30);
    expect(parseRetryAfter(date, now + 60_000)).toBe(0);
  }
  for (const junk of ["", " 5", "1.5", "-3", "5s", "tomorrow", "99999999999", "2026-01-01T00:00:00Z"]) {
    expect(parseRetryAfter(junk, now)).toBe(null);
  }
});

test("computes a retry delay within its bounds and not before Retry-After", () => {
  const statuses = fc.constantFrom(408, 425, 429, 500, 502, 503, 504);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      statuses,
      fc.option(fc.integer({ min: 0, max: 40 })),
      (attempt, status, after) => {
        const policy = { attempts: 20, delayMs: 100, maxDelayMs: 30_000 };
        const error = new RestError("http", "", { status, method: "GET", retryAfter: after });
        const delayMs = retryDelayMs(policy, error, attempt);
        if (after !== null && after > 30) return delayMs === null;
        expect(delayMs).toBeGreaterThanOrEqual((after ?? 0) * 1000);
        expect(delayMs).toBeLessThanOrEqual(
          Math.max((after ?? 0) * 1000, Math.min(30_000, 100 * 2 ** (attempt - 1))),
        );
        return retryDelayMs({ ...policy, attempts: attempt - 1 }, error, attempt) === null;
      },
    ),
  );
});
