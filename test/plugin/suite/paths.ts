import assert from "node:assert/strict";
import { RestPlugin } from "../../../plugin/index.ts";
import { type Case, type Echo, failure } from "../context.ts";

/** Paths that could lead outside the base URL, by the URL standard or on servers that decode twice. */
export const hostilePaths: string[] = [
  // absolute URLs and other schemes
  "http://evil.example/",
  "https://evil.example/x",
  "HTTP://evil.example/",
  "http:evil.example",
  "http:/evil.example",
  "http:\\\\evil.example",
  "https:///evil.example",
  "ftp://evil.example",
  "file:///etc/passwd",
  "data:text/plain,x",
  "javascript:alert(1)",
  "ws://evil.example",
  "blob:http://evil.example/1",
  "x-y+z.1:anything",
  // hosts
  "//evil.example",
  "///evil.example",
  "//evil.example@127.0.0.1/",
  "//user:pass@evil.example/",
  "/\\evil.example",
  "\\/evil.example",
  "\\\\evil.example\\share",
  "\\evil.example",
  "/%2fevil.example",
  "%2f%2fevil.example",
  "/%252fevil.example",
  "/%5cevil.example",
  "/%255cevil.example",
  // user names
  "@evil.example",
  "user@evil.example",
  "user:pass@evil.example",
  "user%3apass@evil.example/x",
  ".evil.example@evil.example",
  // parent segments, plain
  "..",
  "../",
  "/..",
  "/../",
  "../admin",
  "/../../etc/passwd",
  "users/../../admin",
  "users/..",
  "users/../..",
  "./../x",
  "users/..?x=1",
  "..;/admin",
  "users/..;a=b/admin",
  "users/.. /admin",
  "..\\admin",
  "users\\..\\..\\admin",
  // parent segments, encoded
  "%2e%2e",
  "%2e%2e/admin",
  "/%2E%2E/admin",
  ".%2e/admin",
  "%2e./admin",
  "users/%2e%2e/%2e%2e/admin",
  "..%2fadmin",
  "users%2f..%2f..%2fadmin",
  "%2e%2e%2fadmin",
  "..%5cadmin",
  "%2e%2e%5cadmin",
  "%252e%252e/admin",
  "%252e%252e%252fadmin",
  "%25252e%25252e%25252fadmin",
  "%25%32%65%25%32%65/admin",
  "..%3b/admin",
  "..%20/admin",
  "%c0%ae%c0%ae/admin",
  "%c0%ae%c0%ae%c0%afadmin",
  "%e0%80%ae%e0%80%ae/admin",
  "%f0%80%80%ae/admin",
  "%25c0%25ae%25c0%25ae/admin",
  "\uff0e\uff0e/admin",
  "%ef%bc%8e%ef%bc%8e/admin",
  "\u2025/admin",
  "..\uff0fadmin",
  // control characters and invalid text
  "/users\r\nHost: evil.example",
  "/users\n",
  "\t//evil.example",
  "/\t/evil.example",
  "/us\0ers",
  "/users\u007f",
  "/users\u0085x",
  "/users%00",
  "/users%0d%0aX-Evil:%201",
  "/users%250d%250aX-Evil",
  "/users?a=1\r\nX-Evil: 1",
  " /users",
  "/users ",
  "/users ?a=1",
  " //evil.example",
  "\u00a0//evil.example",
  "/users#fragment",
  "#",
  "?a=1#b",
  "/users/%",
  "/users/%zz",
  "/users/%e4",
  "/users/\ud800",
  "/users?x=\\",
  `/%${"25".repeat(20)}2e`,
];

/** Unusual but valid paths, and the path that the server receives below `/v1`. */
const harmlessPaths: [string, string][] = [
  ["", ""],
  ["/", "/"],
  ["users", "/users"],
  ["/users/", "/users/"],
  ["?a=1", "?a=1"],
  ["/users?next=http://evil.example/../x", "/users?next=http://evil.example/../x"],
  ["/users?a=%00%0a&b=..", "/users?a=%00%0a&b=.."],
  ["/@scope/name", "/@scope/name"],
  ["/items:batchGet", "/items:batchGet"],
  ["/group%2Fproject", "/group%2Fproject"],
  ["/100%25", "/100%25"],
  ["/a..b/...", "/a..b/..."],
  ["/Zoë/日本", "/Zo%C3%AB/%E6%97%A5%E6%9C%AC"],
  ["/a b", "/a%20b"],
  ["/users/me@example.com", "/users/me@example.com"],
  ["/a//b", "/a//b"],
  ["/http://evil.example", "/http://evil.example"],
  ["/.well-known/x", "/.well-known/x"],
];

export const pathCases: Case[] = [
  {
    name: `${hostilePaths.length} hostile paths are refused before a connection is opened`,
    async run({ plugin, site, folder, log }) {
      assert.ok(hostilePaths.length >= 60 && new Set(hostilePaths).size === hostilePaths.length);
      const origin = new URL(site).origin;
      for (const baseUrl of [site, `${site}/`, origin, `${origin}/`]) {
        const api = plugin({ baseUrl, redirectOrigins: "any" });
        for (const path of hostilePaths) {
          const actions = [
            () => api.get(path),
            () => api.post(path, {}),
            () => api.delete(path),
            () => api.downloadFile(path, `${folder}/x`),
            ...api.tools.map((tool) => () => tool.execute({ endpoint: path })),
          ];
          for (const action of actions) {
            const error = await failure("invalid_argument", action);
            assert.match(error.message, /^Cannot use the path ".*": i?t?s?/);
          }
        }
      }
      for (const path of [undefined, null, 1, {}, ["/users"], new URL("http://evil.example")]) {
        await failure("invalid_argument", () => plugin().get(path as string));
      }
      assert.deepEqual(await log(), { requests: [], connections: 0 });
    },
  },
  {
    name: "sends unusual paths below the base URL unchanged",
    async run({ site, plugin, log }) {
      const api = plugin();
      for (const [path, expected] of harmlessPaths) {
        await failure("http", () => api.get(path));
        assert.equal((await log()).requests.at(-1)?.url, `/v1${expected}`);
      }
      const origin = new URL(site).origin;
      for (const baseUrl of [`${origin}/v1/echo`, `${origin}/v1/echo/`, `${origin}/v1/echo///`]) {
        await using nested = new RestPlugin({ baseUrl });
        assert.equal((await nested.get<Echo>("a")).url, "/v1/echo/a");
        assert.equal((await nested.get<Echo>("")).url, "/v1/echo");
      }
    },
  },
  {
    name: "encodes parameters so that they cannot change the path",
    async run({ plugin }) {
      const api = plugin();
      const params = {
        "a&b=c#d": "../?x=1#y\r\nz\\",
        "@": "//evil.example",
        obj: { a: 1 },
        when: new Date(0),
        big: 2n,
      };
      const { url } = await api.get<Echo>("/echo", { params });
      assert.equal(
        url,
        "/v1/echo?a%26b%3Dc%23d=..%2F%3Fx%3D1%23y%0D%0Az%5C&%40=%2F%2Fevil.example&obj=%7B%22a%22%3A1%7D" +
          "&when=1970-01-01T00%3A00%3A00.000Z&big=2",
      );
      await failure("invalid_argument", () => api.get("/echo", { params: { f: () => 1 } }));
      await failure("invalid_argument", () => api.get("/echo", { params: { when: new Date(Number.NaN) } }));
    },
  },
];
