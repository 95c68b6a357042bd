import assert from "node:assert/strict";
import { RestError, RestPlugin, type RestPluginOptions } from "../../../plugin/index.ts";
import { type Case, type Echo, failure } from "../context.ts";

export const requestCases: Case[] = [
  {
    name: "runs on the expected runtime",
    async run({ runtime }) {
      const actual = process.versions.bun ? "bun" : process.versions.deno ? "deno" : "node";
      assert.equal(actual, runtime);
    },
  },
  {
    name: "sends method, path, parameters and data",
    async run({ plugin }) {
      const api = plugin();
      const got = await api.get<Echo>("/echo", {
        params: { q: "a b", list: [1, 2], none: null, not: undefined },
      });
      assert.deepEqual([got.method, got.url, got.body], ["GET", "/v1/echo?q=a+b&list=1&list=2", ""]);
      for (const method of ["post", "put", "patch"] as const) {
        const sent = await api[method]<Echo>("echo", { name: "Zoë", n: 1 });
        assert.deepEqual(
          [sent.method, sent.url, sent.body, sent.headers["content-type"]],
          [method.toUpperCase(), "/v1/echo", '{"name":"Zoë","n":1}', "application/json"],
        );
      }
      const deleted = await api.delete<Echo>("/echo?soft=1", { params: { x: true } });
      assert.deepEqual([deleted.method, deleted.url, deleted.body], ["DELETE", "/v1/echo?soft=1&x=true", ""]);
    },
  },
  {
    name: "sends any JSON value, and no body without data",
    async run({ plugin }) {
      const api = plugin();
      for (const data of [
        "text",
        "",
        0,
        1.5,
        false,
        true,
        null,
        [],
        [1, "2"],
        {},
        { __proto__: null, a: 1 },
      ]) {
        const { body, headers } = await api.post<Echo>("/echo", data);
        assert.deepEqual([body, headers["content-type"]], [JSON.stringify(data), "application/json"]);
      }
      const hostile = JSON.parse('{"__proto__":{"admin":true},"constructor":1}');
      assert.equal(
        (await api.post<Echo>("/echo", hostile)).body,
        '{"__proto__":{"admin":true},"constructor":1}',
      );
      const empty = await api.post<Echo>("/echo");
      assert.equal(empty.body, "");
      const cyclic: Record<string, unknown> = {};
      cyclic.self = cyclic;
      await failure("invalid_argument", () => api.post("/echo", cyclic));
      await failure("invalid_argument", () => api.post("/echo", () => 1));
      await failure("invalid_argument", () => api.post("/echo", { n: 1n }));
    },
  },
  {
    name: "sends the API key in the configured header, and no header without a key",
    async run({ plugin, site }) {
      const rows: [Partial<RestPluginOptions>, string, string | undefined][] = [
        [{}, "authorization", "Bearer key-1234"],
        [{ authPrefix: "Token" }, "authorization", "Token key-1234"],
        [{ authPrefix: "" }, "authorization", "key-1234"],
        [{ authHeader: "X-API-Key", authPrefix: "" }, "x-api-key", "key-1234"],
        [{ authHeader: "X-API-Key" }, "x-api-key", "Bearer key-1234"],
      ];
      for (const [options, header, value] of rows) {
        const { headers } = await plugin(options).get<Echo>("/echo");
        assert.equal(headers[header], value);
        if (header !== "authorization") assert.equal(headers.authorization, undefined);
      }
      await using open = new RestPlugin({ baseUrl: site });
      assert.equal((await open.get<Echo>("/echo")).headers.authorization, undefined);
    },
  },
  {
    name: "sends headers of the plugin and the call without replacing the API key",
    async run({ plugin }) {
      const api = plugin({ headers: { "x-team": "a", "x-both": "plugin", authorization: "no" } });
      const { headers } = await api.get<Echo>("/echo", {
        headers: { "X-Both": "call", Authorization: "Bearer other", "x-call": "1" },
      });
      assert.deepEqual(
        [headers["x-team"], headers["x-both"], headers["x-call"], headers.authorization],
        ["a", "call", "1", "Bearer key-1234"],
      );
      const typed = await api.post<Echo>(
        "/echo",
        {},
        { headers: { "content-type": "application/vnd.api+json" } },
      );
      assert.equal(typed.headers["content-type"], "application/vnd.api+json");
    },
  },
  {
    name: "calls the hooks of ofetch once per request, and sends their headers along redirects",
    async run({ plugin }) {
      const seen: string[] = [];
      const api = plugin({
        onRequest({ options }) {
          seen.push("request");
          options.headers.set("x-hook", "yes");
        },
        onResponse({ response }) {
          seen.push(`response ${response.status}`);
        },
      });
      assert.equal((await api.get<Echo>("/hops?left=2")).headers["x-hook"], "yes");
      assert.deepEqual(seen, ["request", "response 200"]);
      const astray = plugin({
        onRequest(context) {
          context.request = "http://127.0.0.1:9/";
        },
      });
      await failure("invalid_argument", () => astray.get("/echo"));
      const failures: number[] = [];
      const failing = plugin({
        onResponseError({ response }) {
          failures.push(response.status);
        },
      });
      assert.equal(
        (await failure("http", () => failing.get("/reply?status=404&type=text/plain&body=no"))).body,
        "no",
      );
      assert.equal(failures[0], 404);
      const refusing = plugin({
        onResponse() {
          throw new Error("no thanks");
        },
      });
      assert.match(
        (await failure("aborted", () => refusing.get("/echo"))).message,
        /A hook aborted the request: no thanks/,
      );
      await failure("network", () => refusing.post("/flaky?fails=1&status=cut&key=hooks"));
      const watched = plugin({ maxResponseBytes: 100_000, onRequest: () => {}, onResponse: () => {} });
      const sent = await watched.post<Echo>("/echo", { a: 1 });
      assert.deepEqual([sent.body, sent.headers["content-type"]], ['{"a":1}', "application/json"]);
      assert.match((await failure("http", () => watched.get("/reply?status=500"))).message, /HTTP 500/);
      await failure("response_too_large", () => watched.get("/stream?bytes=1000000"));
    },
  },
  {
    name: "refuses invalid options in the constructor without revealing the API key",
    async run({ site }) {
      const rows: [Record<string, unknown>, RegExp][] = [
        [{ baseUrl: undefined }, /baseUrl/],
        [{ baseUrl: "api.example.com" }, /absolute http or https URL/],
        [{ baseUrl: "ftp://example.com" }, /absolute http or https URL/],
        [{ baseUrl: "https://user:pw-secret@example.com" }, /user name or password/],
        [{ baseUrl: "https://example.com/?a=1" }, /no query/],
        [{ baseUrl: "https://example.com/#a" }, /no fragment/],
        [{ apiKey: "" }, /not empty/],
        [{ apiKey: "pw-secret\r\nx: y" }, /one line/],
        [{ apiKey: "pw-secret ✓" }, /Latin-1/],
        [{ authHeader: "x y" }, /header name/],
        [{ authHeader: "Host" }, /HTTP itself/],
        [{ authPrefix: 1 }, /authPrefix/],
        [{ headers: { "x-key": "pw-secret\n" + "x" } }, /headers/],
        [{ timeout: 0 }, /above 0/],
        [{ timeout: -1 }, /above 0/],
        [{ timeout: Number.NaN }, /above 0/],
        [{ timeout: Number.POSITIVE_INFINITY }, /at most 2147483/],
        [{ timeout: "30" }, /seconds/],
        [{ maxResponseBytes: 0 }, /maxResponseBytes/],
        [{ toolResultMaxChars: 10 }, /toolResultMaxChars/],
        [{ retry: -1 }, /retry/],
        [{ retry: { attempts: 1, delay: -1 } }, /delay/],
        [{ retry: true }, /retry/],
        [{ redirectOrigins: ["https://a.example/path"] }, /origin/],
        [{ redirectOrigins: ["*"] }, /origin/],
        [{ egressGuard: { allowAddresses: ["10.0.0.0/40"] } }, /CIDR/],
        [{ baseURL: "https://evil.example" }, /baseURL/],
        [{ redirect: "follow" }, /redirect/],
        [{ signal: AbortSignal.abort() }, /signal/],
      ];
      for (const [options, message] of rows) {
        const all = { baseUrl: site, apiKey: "pw-secret", ...options } as unknown as RestPluginOptions;
        const error = await failure("invalid_argument", async () => new RestPlugin(all));
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /pw-secret/);
      }
    },
  },
  {
    name: "aborts running calls and refuses new calls after close",
    async run({ plugin }) {
      const api = plugin();
      const running = failure("closed", () => api.get("/silent"));
      const runningTool = failure(
        "closed",
        () => api.tools[0]?.execute({ endpoint: "/silent" }) ?? Promise.resolve(),
      );
      await api.get("/echo");
      await api.close();
      await running;
      await runningTool;
      assert.match((await failure("closed", () => api.get("/echo"))).message, /the plugin is closed/);
      let used: RestPlugin;
      {
        await using scoped = plugin();
        used = scoped;
        await scoped.get("/echo");
      }
      await failure("closed", () => used.get("/echo"));
    },
  },
  {
    name: "throws a network error when the server is unreachable",
    async run({ site }) {
      const { port } = new URL(site);
      await using api = new RestPlugin({ baseUrl: `http://127.0.0.2:${port}/v1`, egressGuard: false });
      await api.get("/echo");
      await using unreachable = new RestPlugin({ baseUrl: "http://127.0.0.1:1/v1", apiKey: "pw-secret" });
      const error = await failure("network", () => unreachable.get("/x", { params: { key: "pw-secret" } }));
      assert.ok(error instanceof Error && error instanceof RestError);
      assert.match(error.message, /^GET http:\/\/127\.0\.0\.1:1\/v1\/x\?key=\*\*\* failed: ./);
      assert.deepEqual(
        [error.method, error.url, error.status],
        ["GET", "http://127.0.0.1:1/v1/x?key=***", null],
      );
    },
  },
];
