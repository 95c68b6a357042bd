import assert from "node:assert/strict";
import { type Case, failure } from "../context.ts";

function reply(type: string | null, body: string, more: Record<string, unknown> = {}): [string, object] {
  return ["/reply", { params: { type, body, ...more } }];
}

export const responseCases: Case[] = [
  {
    name: "parses responses by content type",
    async run({ plugin }) {
      const api = plugin();
      const rows: [string | null, unknown][] = [
        ["application/json", { a: [1] }],
        ["application/json; charset=utf-8", { a: [1] }],
        ["Application/JSON", { a: [1] }],
        ["application/problem+json", { a: [1] }],
        ["application/vnd.api+json;ext=x", { a: [1] }],
        ["text/json", { a: [1] }],
        ["text/plain", '{"a":[1]}'],
        ["text/html; charset=utf-8", '{"a":[1]}'],
        ["application/xml", '{"a":[1]}'],
        ["image/svg+xml", '{"a":[1]}'],
        ["application/x-ndjson", '{"a":[1]}'],
        ["application/octet-stream", new TextEncoder().encode('{"a":[1]}')],
        ["image/png", new TextEncoder().encode('{"a":[1]}')],
        ["application/jsonish", new TextEncoder().encode('{"a":[1]}')],
        [null, new TextEncoder().encode('{"a":[1]}')],
      ];
      for (const [type, expected] of rows) {
        for (const more of [{}, { chunked: 1 }]) {
          const got = await api.get(...reply(type, '{"a":[1]}', more));
          assert.deepEqual(got, expected, `${type}`);
          if (expected instanceof Uint8Array) assert.equal(Object.getPrototypeOf(got), Uint8Array.prototype);
        }
      }
    },
  },
  {
    name: "decodes text with the declared charset",
    async run({ plugin }) {
      const api = plugin();
      const read = (type: string, hex: string): Promise<unknown> =>
        api.get("/reply", { params: { type, hex } });
      assert.equal(await read("text/plain; charset=iso-8859-1", "5a6feb"), "Zoë");
      assert.equal(await read('text/plain; charset="utf-16le"', "5a006f00eb00"), "Zoë");
      assert.equal(await read("text/plain; charset=nonsense", "5a6fc3ab"), "Zoë");
      assert.equal(await read("text/plain", "efbbbf5a6fc3ab"), "Zoë");
      assert.deepEqual(await read("application/json", "efbbbf7b7d"), {});
    },
  },
  {
    name: "returns null for 204, 205 and empty bodies",
    async run({ plugin }) {
      const api = plugin();
      assert.equal(await api.get(...reply(null, "", { status: 204 })), null);
      assert.equal(await api.get(...reply("application/json", "", { status: 205 })), null);
      for (const type of ["application/json", "text/plain", "application/octet-stream", null]) {
        for (const more of [{}, { chunked: 1 }]) assert.equal(await api.get(...reply(type, "", more)), null);
      }
      assert.deepEqual(await api.post("/reply?type=application/json&body=null&status=201"), null);
    },
  },
  {
    name: "throws invalid_response for invalid JSON",
    async run({ plugin }) {
      const api = plugin();
      for (const body of ["{", "undefined", "{'a':1}", "NaN", "<html>", '{"a":1}}', " "]) {
        for (const more of [{}, { chunked: 1 }]) {
          const error = await failure("invalid_response", () =>
            api.get(...reply("application/json", body, more)),
          );
          assert.match(error.message, /responded with HTTP 200 and invalid JSON/);
          assert.deepEqual([error.status, error.body], [200, body]);
        }
      }
    },
  },
  {
    name: "treats __proto__ in a response as data",
    async run({ plugin }) {
      const got = await plugin().get<object>(...reply("application/json", '{"__proto__":{"admin":true}}'));
      assert.equal(Reflect.get({}, "admin"), undefined);
      assert.ok(Object.hasOwn(got, "__proto__"));
    },
  },
  {
    name: "throws response_too_large for compressed and plain bodies, with and without a length",
    async run({ plugin }) {
      const api = plugin({ maxResponseBytes: 1000 });
      assert.equal((await api.get<Uint8Array>("/stream?bytes=1000")).length, 1000);
      assert.equal((await api.get<string>("/packed?bytes=998&json=1")).length, 998);
      const over = [
        "/stream?bytes=1001",
        "/stream?bytes=1001&chunked=1",
        "/stream?bytes=1001&type=application/json",
        "/stream?bytes=100000000&type=text/plain",
        "/packed?bytes=5000000",
        "/packed?bytes=5000000&json=1",
        "/packed?bytes=5000000&encoding=br",
      ];
      for (const path of over) {
        const error = await failure("response_too_large", () => api.get(path));
        assert.match(error.message, /over maxResponseBytes \(1000\)/);
        await failure("response_too_large", async () => api.tools[0]?.execute({ endpoint: path }));
      }
      const status = await failure("http", () =>
        api.get("/reply", { params: { status: 500, body: "x".repeat(2000) } }),
      );
      assert.deepEqual([status.status, status.body], [500, null]);
    },
  },
  {
    name: "limits responses to 10 MiB by default",
    async run({ plugin }) {
      const api = plugin();
      const cap = 10 * 1024 * 1024;
      assert.equal((await api.get<Uint8Array>(`/stream?bytes=${cap}`)).length, cap);
      await failure("response_too_large", () => api.get(`/stream?bytes=${cap + 1}`));
    },
  },
  {
    name: "throws a network error when the body ends early",
    async run({ plugin }) {
      const api = plugin();
      for (const query of ["", "?chunked=1", "?type=application/json", "?type=text/plain&chunked=1"]) {
        await failure("network", () => api.get(`/cut${query}`));
        await failure("network", async () => api.tools[0]?.execute({ endpoint: `/cut${query}` }));
      }
      await failure("network", async () =>
        api.tools[0]?.execute({ endpoint: "/packed?bytes=5000000&short=1" }),
      );
    },
  },
  {
    name: "decompresses responses with and without the guard",
    async run({ plugin }) {
      for (const egressGuard of [false, true]) {
        const api = plugin({ egressGuard });
        for (const encoding of ["gzip", "deflate", "br", "identity"]) {
          const got = await api.get<string>(`/packed?bytes=200000&json=1&encoding=${encoding}`);
          assert.deepEqual([encoding, got.length], [encoding, 200_000]);
        }
      }
    },
  },
];
