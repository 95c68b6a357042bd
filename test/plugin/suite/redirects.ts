import assert from "node:assert/strict";
import { type Case, type Echo, failure } from "../context.ts";

export const redirectCases: Case[] = [
  {
    name: "follows up to five redirects within the origin",
    async run({ plugin, log }) {
      for (const egressGuard of [false, true]) {
        const api = plugin({ egressGuard });
        for (const left of [1, 5]) {
          const { url, headers } = await api.get<Echo>(`/hops?left=${left}`);
          assert.deepEqual([url, headers.authorization], ["/v1/hops?left=0", "Bearer key-1234"]);
        }
        const before = (await log()).requests.length;
        const error = await failure("redirect", () => api.get("/hops?left=6"));
        assert.match(error.message, /HTTP 302.*at most 5 redirects/);
        assert.equal((await log()).requests.length - before, 6);
      }
    },
  },
  {
    name: "changes method and body on redirects as the Fetch standard does",
    async run({ plugin }) {
      const rows: [number, "post" | "put" | "patch", string][] = [
        [301, "post", "GET"],
        [302, "post", "GET"],
        [303, "post", "GET"],
        [307, "post", "POST"],
        [308, "post", "POST"],
        [301, "put", "PUT"],
        [302, "patch", "PATCH"],
        [303, "put", "GET"],
        [308, "patch", "PATCH"],
      ];
      for (const egressGuard of [false, true]) {
        const api = plugin({ egressGuard });
        for (const [status, method, becomes] of rows) {
          const got = await api[method]<Echo>(`/redirect?status=${status}&to=/v1/echo`, { a: 1 });
          const kept = becomes !== "GET";
          assert.deepEqual(
            [got.method, got.body, got.headers["content-type"]],
            [becomes, kept ? '{"a":1}' : "", kept ? "application/json" : undefined],
            `${status} ${method}`,
          );
        }
      }
    },
  },
  {
    name: "refuses redirects to other origins before sending a request there",
    async run({ plugin, otherOrigin, mainPort, securePort, log }) {
      const targets = [
        `${otherOrigin}/v1/echo`,
        `//127.0.0.1:${new URL(otherOrigin).port}/v1/echo`,
        `\\\\127.0.0.1:${new URL(otherOrigin).port}\\v1\\echo`,
        `http://localhost:${mainPort}/v1/echo`,
        `http://127.0.0.2:${mainPort}/v1/echo`,
        `https://127.0.0.1:${securePort}/v1/echo`,
        `https://127.0.0.1:${mainPort}/v1/echo`,
        `http://user@127.0.0.1:${mainPort}/v1/echo`,
        `http://127.0.0.1:${mainPort}@evil.test/`,
        "http://169.254.169.254/latest/meta-data/",
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "data:text/plain,hello",
        "javascript:alert(1)",
        "http://",
        "http://[::1",
      ];
      for (const egressGuard of [false, true]) {
        const api = plugin({ egressGuard });
        for (const to of targets) {
          for (const status of [301, 302, 303, 307, 308]) {
            const error = await failure("redirect", () =>
              api.post("/redirect", { a: 1 }, { params: { to, status } }),
            );
            assert.deepEqual([error.status, error.method], [status, "POST"]);
          }
        }
      }
      const { requests } = await log();
      assert.equal(requests.length, 2 * 5 * targets.length);
      assert.ok(requests.every(({ url, server }) => url.startsWith("/v1/redirect") && server === "main"));
    },
  },
  {
    name: "sends neither the API key nor headers of the caller to an allowed origin",
    async run({ plugin, otherOrigin, mainPort, log }) {
      for (const redirectOrigins of ["any", [otherOrigin]] as const) {
        for (const authHeader of ["Authorization", "X-API-Key", "Cookie", "X-Anything"]) {
          const api = plugin({
            redirectOrigins,
            authHeader,
            headers: { "x-secret": "s1", cookie: "c=1", "accept-language": "de" },
            egressGuard: { code: true, allowAddresses: ["127.0.0.1"] },
          });
          const to = `${otherOrigin}/v1/echo`;
          const got = await api.post<Echo>(
            "/redirect?status=307",
            { a: 1 },
            { params: { to }, headers: { "x-call": "2" } },
          );
          assert.equal(got.body, '{"a":1}');
          assert.equal(got.headers["accept-language"], "de");
          assert.doesNotMatch(JSON.stringify(got.headers), /key-1234|s1|c=1|x-call/);
        }
      }
      // A request that returns to its origin from another one is sent without the API key.
      const back = `http://127.0.0.1:${mainPort}/v1/echo`;
      const api = plugin({ redirectOrigins: [otherOrigin] });
      const to = `${otherOrigin}/v1/redirect?to=${encodeURIComponent(back)}`;
      assert.equal((await api.get<Echo>("/redirect", { params: { to } })).headers.authorization, undefined);
      assert.ok(
        (await log()).requests.some(({ server, url }) => server === "other" && url.includes("redirect")),
      );
    },
  },
  {
    name: "throws the status of a redirect without a Location",
    async run({ plugin }) {
      for (const status of [301, 302, 303, 307, 308]) {
        assert.equal(
          (await failure("http", () => plugin().get(`/redirect?status=${status}`))).status,
          status,
        );
      }
    },
  },
];
