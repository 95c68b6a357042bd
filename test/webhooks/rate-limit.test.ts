import { describe, expect, test } from "vitest";
import {
  type RateLimit,
  RateLimiter,
  rateLimitHeaders,
  sourceKey,
} from "../../server/webhooks/rate-limit.ts";
import fc from "../support/property.ts";

/** The same bucket in whole thousandths of a token, without rounding. */
class ExactBucket {
  #thousandths: number;
  #atMs: number;
  readonly #limit: RateLimit;

  constructor(limit: RateLimit, nowMs: number) {
    this.#limit = limit;
    this.#thousandths = limit.burst * 1000;
    this.#atMs = nowMs;
  }

  take(nowMs: number) {
    const { requestsPerSecond: rate, burst } = this.#limit;
    this.#thousandths = Math.min(burst * 1000, this.#thousandths + (nowMs - this.#atMs) * rate);
    this.#atMs = nowMs;
    const allowed = this.#thousandths >= 1000;
    if (allowed) this.#thousandths -= 1000;
    const remaining = Math.floor(this.#thousandths / 1000);
    const goal = (remaining === 0 ? 1 : burst) * 1000;
    const resetSeconds = Math.ceil((goal - this.#thousandths) / (rate * 1000));
    return { allowed, remaining, resetSeconds, retryAfterSeconds: allowed ? 0 : resetSeconds };
  }
}

const limits = fc.record({
  requestsPerSecond: fc.integer({ min: 1, max: 1000 }),
  burst: fc.integer({ min: 1, max: 1000 }),
});
const steps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 50 }), fc.nat(5000)), {
  maxLength: 300,
});

describe("a bucket", () => {
  test("agrees with exact arithmetic, however long the clock has run", () => {
    fc.assert(
      fc.property(limits, steps, fc.nat(10 ** 12), (limit, gaps, startMs) => {
        const limiter = new RateLimiter();
        const exact = new ExactBucket(limit, startMs);
        let nowMs = startMs;
        for (const gap of gaps) {
          nowMs += gap;
          const before = limiter.peek("k", limit, nowMs);
          const after = limiter.take("k", limit, nowMs);
          expect(after).toEqual({ limit, ...exact.take(nowMs) });
          expect(before.allowed).toBe(after.allowed);
          expect(before.remaining).toBe(after.remaining + (after.allowed ? 1 : 0));
        }
      }),
      { numRuns: 300 },
    );
  });

  test("allows a claim after the announced wait, also at fractions of a request per second", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 1000, noNaN: true }),
        fc.integer({ min: 1, max: 20 }),
        (rate, burst) => {
          const limiter = new RateLimiter();
          const limit = { requestsPerSecond: rate, burst };
          let nowMs = 1e6;
          for (let n = 0; n < burst; n++) expect(limiter.take("k", limit, nowMs).allowed).toBe(true);
          const refused = limiter.take("k", limit, nowMs);
          expect(refused).toMatchObject({ allowed: false, remaining: 0 });
          nowMs += refused.retryAfterSeconds * 1000;
          expect(limiter.take("k", limit, nowMs).allowed).toBe(true);
        },
      ),
    );
  });

  test("neither gains nor loses tokens when the clock goes back", () => {
    const limiter = new RateLimiter();
    const limit = { requestsPerSecond: 1, burst: 2 };
    expect(limiter.take("k", limit, 5000).remaining).toBe(1);
    expect(limiter.take("k", limit, 1000).remaining).toBe(0);
    expect(limiter.take("k", limit, 5500).allowed).toBe(false);
    expect(limiter.take("k", limit, 6000).allowed).toBe(true);
  });

  test("peek creates no bucket", () => {
    const limiter = new RateLimiter();
    const limit = { requestsPerSecond: 1, burst: 2 };
    expect(limiter.peek("k", limit, 0)).toEqual({
      limit,
      allowed: true,
      remaining: 2,
      resetSeconds: 0,
      retryAfterSeconds: 0,
    });
    expect(limiter.size).toBe(0);
  });

  test("cuts a bucket to a lower burst, and fills it at the new rate", () => {
    const limiter = new RateLimiter();
    expect(limiter.take("k", { requestsPerSecond: 1, burst: 10 }, 0).remaining).toBe(9);
    expect(limiter.take("k", { requestsPerSecond: 1, burst: 3 }, 0).remaining).toBe(2);
    expect(limiter.take("k", { requestsPerSecond: 5, burst: 10 }, 1000).remaining).toBe(6);
  });
});

describe("several buckets", () => {
  test("charges no bucket when one of them is empty", () => {
    fc.assert(
      fc.property(limits, limits, steps, (a, b, gaps) => {
        const together = new RateLimiter();
        const exactA = new ExactBucket(a, 0);
        const exactB = new ExactBucket(b, 0);
        const probe = new RateLimiter();
        let nowMs = 0;
        for (const gap of gaps) {
          nowMs += gap;
          const claims = [
            { key: "a", limit: a },
            { key: "b", limit: b },
          ];
          const states = together.takeAll(claims, nowMs);
          if (states.every(({ allowed }) => allowed)) {
            // The same as separate claims.
            expect(states[0]).toEqual({ limit: a, ...exactA.take(nowMs) });
            expect(states[1]).toEqual({ limit: b, ...exactB.take(nowMs) });
            probe.takeAll(claims, nowMs);
          } else {
            expect(together.takeAll(claims, nowMs)).toEqual(states);
          }
        }
      }),
    );
  });

  test("reports which bucket refused, and the remaining tokens of the other", () => {
    const limiter = new RateLimiter();
    const webhook = { key: "w", limit: { requestsPerSecond: 1, burst: 1 } };
    const organization = { key: "o", limit: { requestsPerSecond: 10, burst: 20 } };
    limiter.takeAll([webhook, organization], 0);
    const [w, o] = limiter.takeAll([webhook, organization], 0);
    expect(w).toMatchObject({ allowed: false, remaining: 0, retryAfterSeconds: 1 });
    expect(o).toMatchObject({ allowed: true, remaining: 19, retryAfterSeconds: 0 });
  });
});

describe("many keys", () => {
  const limit = { requestsPerSecond: 50, burst: 100 };

  test("keeps at most maxKeys buckets and evicts the least recently used", () => {
    const limiter = new RateLimiter({ maxKeys: 1000 });
    for (let n = 0; n < limit.burst; n++) limiter.take("victim", limit, 0);
    for (let n = 0; n < 5_000; n++) {
      expect(limiter.take(`flood ${n}`, limit, 0).allowed).toBe(true);
      if (n % 900 === 0) expect(limiter.take("victim", limit, 0).allowed).toBe(false);
    }
    expect(limiter.size).toBe(1000);
    for (let n = 0; n < 1_000; n++) limiter.take(`next ${n}`, limit, 0);
    expect(limiter.take("victim", limit, 0).allowed).toBe(true);
  });
});

describe("the key of a sender", () => {
  test.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8::5:6:7:8:9", "2001:db8:0:5::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    [undefined, "none"],
  ])("%s is %s", (address, key) => {
    expect(sourceKey(address)).toBe(key);
  });
});

describe("headers", () => {
  const limit = { requestsPerSecond: 50, burst: 100 };
  const state = { limit, allowed: true, remaining: 99, resetSeconds: 1, retryAfterSeconds: 0 };

  test("lists each policy and its state as structured fields", () => {
    const organization = {
      ...state,
      limit: { requestsPerSecond: 3, burst: 10 },
      remaining: 4,
      resetSeconds: 2,
    };
    expect(
      rateLimitHeaders([
        { policy: "webhook", state },
        { policy: "organization", state: organization },
      ]),
    ).toEqual({
      "RateLimit-Policy": '"webhook";q=100;w=2, "organization";q=10;w=4',
      RateLimit: '"webhook";r=99;t=1, "organization";r=4;t=2',
    });
    expect(rateLimitHeaders([])).toEqual({});
  });

  test("sends a Retry-After no earlier than the end of any listed window", () => {
    const claims = fc.array(fc.tuple(limits, fc.integer({ min: 0, max: 1500 })), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(claims, (buckets) => {
        const limiter = new RateLimiter();
        const all = buckets.map(([each, used], n) => {
          for (let use = 0; use < used; use++) limiter.take(`k${n}`, each, 0);
          return { key: `k${n}`, limit: each };
        });
        const states = limiter.takeAll(all, 0);
        const headers = rateLimitHeaders(states.map((each, n) => ({ policy: `p${n}`, state: each })));
        const item = /^"p\d";r=\d+;t=\d+$/;
        const items = headers.RateLimit?.split(", ") ?? [];
        for (const each of items) expect(each).toMatch(item);
        for (const each of headers["RateLimit-Policy"]?.split(", ") ?? []) {
          const [, quota, window] = /^"p\d";q=(\d+);w=([1-9]\d*)$/.exec(each) ?? [];
          expect(Number(quota) / Number(window)).toBeLessThanOrEqual(1000);
        }
        const refused = states.some(({ allowed }) => !allowed);
        expect("Retry-After" in headers).toBe(refused);
        if (refused) {
          const retryAfter = Number(headers["Retry-After"]);
          expect(retryAfter).toBeGreaterThanOrEqual(1);
          for (const each of items) expect(Number(each.split("t=")[1])).toBeLessThanOrEqual(retryAfter);
          const later = limiter.takeAll(all, retryAfter * 1000);
          expect(later.every(({ allowed }) => allowed)).toBe(true);
        }
      }),
    );
  });
});
