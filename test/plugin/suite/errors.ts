import assert from "node:assert/strict";
import { type Case, failure } from "../context.ts";

export const errorCases: Case[] = [
  {
    name: "throws HTTP <status> with body, headers, method and URL for a status other than 2xx",
    async run({ plugin, site }) {
      const api = plugin();
      for (const status of [300, 304, 400, 401, 403, 404, 409, 418, 422, 429, 500, 502, 503, 504, 599]) {
        for (const egressGuard of [false, true]) {
          const guarded = plugin({ egressGuard });
          const body = status === 304 ? null : { why: "because" };
          const path = `/reply?status=${status}${body ? `&type=application/json&body=${JSON.stringify(body)}` : ""}`;
          const error = await failure("http", () => guarded.get(path));
          assert.match(error.message, new RegExp(`HTTP ${status}\\b`));
          assert.deepEqual([error.status, error.method, error.name], [status, "GET", "RestError"]);
          assert.deepEqual(error.body, body);
          assert.ok(error.url?.startsWith(`${site}/reply?`));
          assert.equal(error.headers?.get("content-type"), body ? "application/json" : null);
        }
      }
      for (const status of [200, 201, 202, 203, 206, 226, 299]) {
        assert.equal(await api.get(`/reply?status=${status}&type=text/plain&body=x`), "x");
      }
    },
  },
  {
    name: "explains documented statuses in the message",
    async run({ plugin }) {
      const api = plugin();
      const message = async (query: string): Promise<string> =>
        (await failure("http", () => api.post(`/reply?${query}`, {}))).message;
      assert.match(await message("status=401"), /HTTP 401 \(authentication failed\)/);
      assert.match(
        await message("status=429"),
        /HTTP 429 \(rate limit exceeded; retry with exponential backoff\)/,
      );
      assert.match(
        await message("status=429&after=7"),
        /HTTP 429 \(rate limit exceeded; retry after 7 seconds\)/,
      );
      assert.match(await message("status=500"), /HTTP 500 \(server error\)/);
    },
  },
  {
    name: "returns Retry-After of 429 and 503 in seconds, from a number or a date",
    async run({ plugin }) {
      const api = plugin();
      const after = async (status: number, value: string): Promise<number | null> =>
        (await failure("http", () => api.post("/reply", {}, { params: { status, after: value } })))
          .retryAfter;
      assert.equal(await after(429, "0"), 0);
      assert.equal(await after(503, "120"), 120);
      assert.equal(await after(500, "120"), null);
      assert.equal(await after(503, "soon"), null);
      assert.equal(await after(503, "-1"), null);
      assert.equal(await after(503, "Sun, 06 Nov 1994 08:49:37 GMT"), 0);
      const inAMinute = await after(429, new Date(Date.now() + 60_000).toUTCString());
      assert.ok(inAMinute !== null && inAMinute > 55 && inAMinute <= 60, `${inAMinute}`);
    },
  },
  {
    name: "parses the body of an error, and keeps the status when it is unreadable",
    async run({ plugin }) {
      const api = plugin();
      const body = async (query: string): Promise<unknown> =>
        (await failure("http", () => api.get(`/reply?status=400&${query}`))).body;
      assert.equal(await body("type=text/plain&body=no"), "no");
      assert.equal(await body("type=application/json&body={"), "{");
      assert.equal(await body(""), null);
      assert.deepEqual(await body("hex=00ff"), Uint8Array.of(0, 255));
      const cut = await failure("timeout", () => api.get("/stalled?status=500", { timeout: 0.2 }));
      assert.match(cut.message, /timed out after 0\.2 seconds/);
    },
  },
  {
    name: "names the reason of an error JSON of Connect, and tolerates any other body",
    async run({ plugin }) {
      const api = plugin();
      const reason = async (body: unknown): Promise<string | null> => {
        const query = new URLSearchParams({ type: "application/json", body: JSON.stringify(body) });
        return (await failure("http", () => api.get(`/reply?status=404&${query}`))).reason;
      };
      const info = { type: "google.rpc.ErrorInfo", value: "", debug: { reason: "RESOURCE_NOT_FOUND" } };
      assert.equal(
        await reason({ code: "not_found", details: [{ type: "other" }, info] }),
        "RESOURCE_NOT_FOUND",
      );
      for (const details of [
        null,
        5,
        {},
        [null],
        [{ ...info, debug: { reason: 5 } }],
        [{ ...info, debug: null }],
      ])
        assert.equal(await reason({ details }), null);
      assert.equal(await reason("text"), null);
    },
  },
  {
    name: "does not retry by default",
    async run({ plugin, log }) {
      const api = plugin();
      for (const status of [408, 425, 429, 500, 502, 503, 504]) {
        await failure("http", () => api.get(`/reply?status=${status}`));
      }
      assert.equal((await log()).requests.length, 7);
    },
  },
  {
    name: "sends POST and PATCH once when a kept connection breaks",
    async run({ plugin, log, mainPort }) {
      const key = `${mainPort}-${Math.random()}`;
      for (const egressGuard of [false, true]) {
        const api = plugin({ egressGuard });
        for (const method of ["post", "patch"] as const) {
          for (const data of [undefined, { a: 1 }]) {
            await Promise.all([api.get("/echo"), api.get("/echo")]);
            const before = (await log()).requests.length;
            const path = `/flaky?fails=1&status=cut&key=${key}-${egressGuard}-${method}-${data}`;
            await failure("network", () => api[method](path, data));
            assert.equal((await log()).requests.length, before + 1);
          }
        }
      }
    },
  },
  {
    name: "retries only idempotent methods, up to the configured number",
    async run({ plugin, log, mainPort }) {
      const api = plugin({ retry: { attempts: 2, delay: 0.001 } });
      const key = `${mainPort}-${Math.random()}`;
      assert.deepEqual(await api.get(`/flaky?fails=2&key=${key}a`), { count: 3 });
      assert.deepEqual(await api.put(`/flaky?fails=2&status=502&key=${key}b`, {}), { count: 3 });
      assert.deepEqual(await api.delete(`/flaky?fails=1&status=cut&key=${key}c`), { count: 2 });
      assert.equal((await failure("http", () => api.get(`/flaky?fails=3&key=${key}d`))).status, 503);
      const before = (await log()).requests.length;
      await failure("http", () => api.post(`/flaky?fails=1&key=${key}e`, {}));
      await failure("http", () => api.patch(`/flaky?fails=1&key=${key}f`, {}));
      await failure("http", () => api.get("/reply?status=404"));
      await failure("http", () => api.get("/reply?status=501"));
      assert.equal((await log()).requests.length - before, 4);
    },
  },
  {
    name: "waits for Retry-After, but does not start a wait that exceeds the timeout",
    async run({ plugin, mainPort }) {
      const key = `${mainPort}-${Math.random()}`;
      const api = plugin({ retry: { attempts: 1, delay: 0.001 } });
      const begun = performance.now();
      await api.get(`/flaky?fails=1&after=1&key=${key}a`);
      assert.ok(performance.now() - begun >= 990, `${performance.now() - begun}`);
      const late = await failure("http", () =>
        api.get(`/flaky?fails=1&after=10&key=${key}b`, { timeout: 5 }),
      );
      assert.equal(late.retryAfter, 10);
      await failure("http", () => api.get(`/flaky?fails=1&after=31&key=${key}c`, { timeout: 100 }));
    },
  },
];
