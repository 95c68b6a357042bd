import assert from "node:assert/strict";
import { inspect } from "node:util";
import type { AgentTool, RestPlugin } from "../../../plugin/index.ts";
import { type Case, type Echo, failure } from "../context.ts";

export const toolCases: Case[] = [
  {
    name: "defines exactly the four tools",
    async run({ plugin, site }) {
      const { tools } = plugin();
      const expected = [
        ["http_get", "params"],
        ["http_post", "data"],
        ["http_put", "data"],
        ["http_delete", "params"],
      ] as const;
      assert.deepEqual(
        tools.map(({ name, category, source }) => [name, category, source]),
        expected.map(([name]) => [name, "api", "plugin"]),
      );
      for (const [index, [, second]] of expected.entries()) {
        const { parameters, description } = tools[index] as AgentTool;
        assert.deepEqual(
          [parameters.type, parameters.required, parameters.additionalProperties],
          ["object", ["endpoint"], false],
        );
        assert.deepEqual(
          Object.entries(parameters.properties).map(([name, { type }]) => [name, type]),
          [
            ["endpoint", "string"],
            [second, "object"],
          ],
        );
        assert.ok(description.includes(site) && !description.includes("key-1234"));
      }
    },
  },
  {
    name: "sends the request of each tool with the API key",
    async run({ plugin }) {
      const api = plugin();
      const rows = [
        ["http_get", { params: { a: 1 } }, "GET", "/v1/echo?a=1", ""],
        ["http_post", { data: { a: 1 } }, "POST", "/v1/echo", '{"a":1}'],
        ["http_put", { data: { a: 1 } }, "PUT", "/v1/echo", '{"a":1}'],
        ["http_delete", { params: { a: 1 } }, "DELETE", "/v1/echo?a=1", ""],
        ["http_post", {}, "POST", "/v1/echo", ""],
      ] as const;
      for (const [name, args, method, url, body] of rows) {
        const got = (await tool(api, name).execute({ endpoint: "/echo", ...args })) as Echo;
        assert.deepEqual([got.method, got.url, got.body], [method, url, body]);
        assert.equal(got.headers.authorization, "Bearer ***");
      }
    },
  },
  {
    name: "refuses invalid arguments without sending anything",
    async run({ plugin, log }) {
      const api = plugin();
      const rows: [unknown, RegExp][] = [
        [undefined, /arguments must be an object, got undefined/],
        [null, /must be an object, got null/],
        ["/users", /must be an object/],
        [["/users"], /must be an object/],
        [{}, /endpoint must be a string, got undefined/],
        [{ endpoint: 1 }, /endpoint must be a string, got number/],
        [{ endpoint: "/echo", params: "a=1" }, /params must be an object, got "a=1"/],
        [{ endpoint: "/echo", params: [1] }, /params must be an object/],
        [{ endpoint: "/echo", params: null }, /params must be an object, got null/],
        [{ endpoint: "/echo", data: {} }, /arguments are endpoint and params, got "data"/],
        [{ endpoint: "/echo", headers: { authorization: "x" } }, /got "headers"/],
        [{ endpoint: "/echo", timeout: 99 }, /got "timeout"/],
        [JSON.parse('{"endpoint":"/echo","__proto__":{"a":1}}'), /got "__proto__"/],
        [Object.create({ endpoint: "/echo" }), /endpoint must be a string, got undefined/],
      ];
      for (const [args, message] of rows) {
        assert.match(
          (await failure("invalid_argument", () => tool(api, "http_get").execute(args))).message,
          message,
        );
      }
      await failure("invalid_argument", () =>
        tool(api, "http_post").execute({ endpoint: "/echo", params: {} }),
      );
      assert.equal((await log()).connections, 0);
    },
  },
  {
    name: "redacts the API key in every result and error",
    async run({ plugin }) {
      const keys = ["key-1234", 'q"uo\\te/&=ü', "12345"];
      for (const apiKey of keys) {
        for (const options of [{}, { authHeader: "X-API-Key", authPrefix: "" }]) {
          const api = plugin({ apiKey, ...options });
          const get = (endpoint: string): Promise<unknown> => tool(api, "http_get").execute({ endpoint });
          for (const path of ["/leak", "/leak?text=1&type=text/plain"]) {
            hides(apiKey, await get(path));
          }
          for (const path of [
            "/leak?status=500",
            "/leak?status=400&text=1&type=text/plain",
            "/leak?text=1",
          ]) {
            const error = await get(path).then(
              () => assert.fail("it must fail"),
              (thrown: Error & { body: unknown; headers: Headers }) => thrown,
            );
            hides(apiKey, [error.message, error.body, error.stack, [...error.headers], error.cause ?? null]);
          }
        }
      }
      const custom = plugin({ headers: { "x-service-token": "tok-5678" } });
      const echo = await tool(custom, "http_get").execute({ endpoint: "/echo" });
      hides("tok-5678", echo);
      const whole = plugin();
      const shown = inspect(whole, { depth: 9, showHidden: true, getters: true }) + JSON.stringify(whole);
      assert.ok(!shown.includes("key-1234"), shown);
      const url = await tool(plugin(), "http_get").execute({ endpoint: "/echo?k=key-1234" });
      hides("key-1234", url);
    },
  },
  {
    name: "truncates long results with a note and describes bytes",
    async run({ plugin }) {
      const api = plugin({ toolResultMaxChars: 300 });
      const get = (endpoint: string): Promise<unknown> => tool(api, "http_get").execute({ endpoint });
      assert.equal(await get(`/reply?type=text/plain&body=${"x".repeat(300)}`), "x".repeat(300));
      const cut = String(await get(`/reply?type=text/plain&body=${"x".repeat(301)}`));
      assert.equal(
        cut,
        `${"x".repeat(300)}\n[truncated to the first 300 of 301 characters; request less data]`,
      );
      const json = String(await get(`/reply?type=application/json&body=["${"y".repeat(400)}"]`));
      assert.ok(json.startsWith('["yyy') && json.endsWith("of 404 characters; request less data]"));
      const pair = String(
        await get(`/reply?type=text/plain&body=${"x".repeat(299)}${encodeURIComponent("😀")}`),
      );
      assert.ok(pair.isWellFormed() && pair.startsWith(`${"x".repeat(299)}\n[truncated`));
      assert.equal(await get("/reply?hex=00ff"), "[2 bytes that are neither JSON nor text]");
      assert.equal(await get("/reply?status=204"), null);
      const error = await failure("http", () =>
        get(`/reply?status=500&type=text/plain&body=${"z".repeat(999)}`),
      );
      assert.match(String(error.body), /^z{300}\n\[truncated/);
      const deep = `${"[".repeat(3000)}${"]".repeat(3000)}`;
      const nested = plugin({ toolResultMaxChars: 10_000 });
      assert.ok(
        await tool(nested, "http_get").execute({ endpoint: `/reply?type=application/json&body=${deep}` }),
      );
    },
  },
];

function tool(api: RestPlugin, name: string): AgentTool {
  const found = api.tools.find((candidate) => candidate.name === name);
  return found ?? assert.fail(`there is no ${name}`);
}

function hides(secret: string, shown: unknown): void {
  const text = JSON.stringify(shown, (_key, value: unknown) =>
    value instanceof Error ? String(value) : value,
  );
  for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
    assert.ok(!text.includes(form), `${secret} is in ${text}`);
  }
  assert.ok(text.includes("***"), text);
}
