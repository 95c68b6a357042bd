/** The files of the console, its session, and who may use its API. Without a browser. */
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleConsole } from "../../server/routes/console/bundle.ts";
import { deploy } from "../support/project.ts";
import { call, expectError, ok } from "../support/rest.ts";
import { onRuntime } from "../support/suite.ts";

test("the bundle is small, and its page has no inline scripts and no other hosts", async () => {
  const files = await bundleConsole();
  expect([...files.keys()].toSorted()).toEqual(["app.css", "app.js", "icon.svg", "index.html"]);
  const size = [...files.values()].reduce((sum, body) => sum + gzipSync(body).length, 0);
  expect(size).toBeLessThan(150_000);
  const page = Buffer.from(files.get("index.html") ?? "").toString();
  expect(page).not.toMatch(/<script(?![^>]* src=)|\son\w+=|style=|https?:/);
});

onRuntime("deno", "the boundary of the console", {}, (server) => {
  const list = "/console/api/svc.v1.ExecutionService/ListExecutions";
  let cookie = "";
  let origin = "";

  const signIn = (key: string, headers: Record<string, string> = { origin }) =>
    call(server, "POST", "/console/session", { json: { key }, headers, key: null });
  const cookieOf = (headers: Headers) => headers.get("set-cookie")?.split(";")[0] ?? "";

  beforeAll(async () => {
    origin = server.url;
    cookie = cookieOf((await signIn(server.apiKey)).headers);
  });

  test("serves its files with a strict policy, also for an environment", async () => {
    for (const prefix of ["", "/env/staging"]) {
      const moved = await call(server, "GET", `${prefix}/console`, { key: null });
      expect([moved.status, moved.headers.get("location")]).toEqual([308, "console/"]);
      const page = await call(server, "GET", `${prefix}/console/`, { key: null });
      expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(page.headers.get("x-content-type-options")).toBe("nosniff");
      const etag = page.headers.get("etag") ?? "";
      const again = await call(server, "GET", `${prefix}/console/`, { headers: { "if-none-match": etag } });
      expect(again.status).toBe(304);
    }
    for (const path of [
      "/console/../package.json",
      "/console/main.tsx",
      "/console/api/",
      "/console/none.js",
    ]) {
      expect((await call(server, "GET", path, { key: null })).status).toBeGreaterThanOrEqual(404);
    }
  });

  test("a browser that opens the address of the service is sent to the console", async () => {
    const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    for (const [path, location] of [
      ["/", "console/"],
      ["/?a=b", "console/"],
      ["/env/staging", "staging/console/"],
      ["/env/staging/", "console/"],
    ] as const) {
      for (const method of ["GET", "HEAD"]) {
        const moved = await call(server, method, path, { key: null, headers: browser });
        expect([moved.status, moved.headers.get("location")]).toEqual([302, location]);
      }
      for (const accept of ["*/*", "application/json"]) {
        const answer = await call(server, "GET", path, { key: null, headers: { accept } });
        expectError(answer, 404, "not_found", /^This path does not exist\.$/, "PATH_UNKNOWN");
      }
      expect((await call(server, "POST", path, { key: null, headers: browser })).status).toBe(404);
    }
    expect((await call(server, "GET", "/none", { key: null, headers: browser })).status).toBe(404);
  });

  test("the cookie cannot be read by scripts and is not sent by other websites", async () => {
    const { status, headers } = await signIn(server.apiKey);
    expect(status).toBe(204);
    expect(headers.get("set-cookie")).toMatch(
      /^svc_console=[\w-]{43}; Path=\/; Max-Age=43199; HttpOnly; SameSite=Strict$|Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    expectError(
      await signIn("svc_wrong_0123456789abcdef"),
      401,
      "unauthenticated",
      /unknown/,
      "API_KEY_INVALID",
    );
  });

  describe("calls of the API", () => {
    const send = (headers: Record<string, string>, path = list) =>
      call(server, "POST", path, { json: {}, headers, key: null });

    test("need the session and the own origin", async () => {
      expect((await send({ cookie, origin })).status).toBe(200);
      expectError(await send({ origin }), 401, "unauthenticated", /sign in/, "SESSION_INVALID");
      const foreign = { cookie, origin: "https://evil.example" };
      expectError(await send(foreign), 403, "permission_denied", /evil\.example/, "ORIGIN_NOT_ALLOWED");
      expectError(await send({ cookie }), 403, "permission_denied", /no origin/, "ORIGIN_NOT_ALLOWED");
      expectError(
        await signIn(server.apiKey, {}),
        403,
        "permission_denied",
        /no origin/,
        "ORIGIN_NOT_ALLOWED",
      );
      expectError(await call(server, "GET", list, { headers: { cookie } }), 405, "unimplemented", /POST/);
    });

    test("the cookie counts nowhere else", async () => {
      const path = list.replace("/console/api", "");
      expect((await send({ cookie, origin }, path)).status).toBe(401);
      expect((await send({ cookie, origin }, "/mcp")).status).toBe(401);
      const rest = await call(server, "GET", "/api/v1/executions", {
        headers: { cookie, origin },
        key: null,
      });
      expect(rest.status).toBe(401);
    });

    test("have the scope of the key, and end with it", async () => {
      const json = { name: "reader", scope: "read" };
      const { key, token } = await ok<{ key: { key_id: string }; token: string }>(
        server,
        "POST",
        "/api/v1/keys",
        {
          json,
        },
      );
      const reader = cookieOf((await signIn(token)).headers);
      expect((await send({ cookie: reader, origin })).status).toBe(200);
      const run = await send({ cookie: reader, origin }, list.replace("ListExecutions", "RunExecution"));
      expectError(run, 403, "permission_denied", /scope trigger/, "SCOPE_MISSING");
      await ok(server, "DELETE", `/api/v1/keys/${key.key_id}`);
      expectError(
        await send({ cookie: reader, origin }),
        401,
        "unauthenticated",
        /sign in/,
        "SESSION_INVALID",
      );
    });

    test("end their streams with the sign-out", async () => {
      const own = cookieOf((await signIn(server.apiKey)).headers);
      // Has log entries, so that the stream sends its headers.
      await deploy(server, { agents: { logged: "export default () => 1;" } });
      const message = Buffer.from('{"follow":true,"lines":1}');
      const body = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
      const headers = { origin, cookie: own, "content-type": "application/connect+json" };
      const path = `${origin}/console/api/svc.v1.ExecutionService/TailLogs`;
      const stream = await fetch(path, { method: "POST", headers, body });
      expect(stream.status).toBe(200);
      const ended = stream.text().then(
        () => "complete",
        () => "cut",
      );
      await call(server, "DELETE", "/console/session", { headers: { origin, cookie: own }, key: null });
      expect(await ended).toBe("cut");
    });

    test("end with the sign-out", async () => {
      const other = cookieOf((await signIn(server.apiKey)).headers);
      const out = await call(server, "DELETE", "/console/session", {
        headers: { cookie: other, origin },
        key: null,
      });
      expect([out.status, out.headers.get("set-cookie")]).toEqual([204, expect.stringMatching(/Max-Age=0/)]);
      expect((await send({ cookie: other, origin })).status).toBe(401);
    });
  });
});
