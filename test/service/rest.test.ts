import { expect, test } from "vitest";
import { launcher } from "../cli/process.ts";
import { exchange, head } from "../support/raw.ts";
import { call, expectError, ok } from "../support/rest.ts";
import type { DeploymentPage, ErrorJson } from "../support/shapes.ts";
import { onRuntime } from "../support/suite.ts";

/** From the sources, which `svc dev` on Node and most servers on Bun cover on the other runtimes. */
onRuntime("deno", "REST", { launcher }, (server) => {
  test("returns one message for all invalid keys", async () => {
    const none = await call(server, "GET", "/api/v1/organization", { key: null });
    expectError(none, 401, "unauthenticated", /^The request has no API key: send it in the header/);
    expect(none.headers.get("www-authenticate")).toBe("Bearer");
    const [, id = "", secret = ""] = server.apiKey.split("_");
    const other = secret.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
    const wrong = [
      `svc_${id}_${other}`,
      `svc_${id}_${secret}0`,
      `svc_${id}_${secret.slice(0, -1)}`,
      `svc_${"0".repeat(26)}_${secret}`,
      `svc_${id.toUpperCase()}_${secret}`,
      "svc",
      secret,
      "'; DROP TABLE api_keys; --".replaceAll(" ", ""),
    ];
    for (const key of wrong) {
      const answer = await call(server, "GET", "/api/v1/organization", { key });
      expectError(answer, 401, "unauthenticated", /^The API key is unknown, revoked or expired\.$/);
    }
    const headers = { authorization: `Basic ${Buffer.from(`svc:${server.apiKey}`).toString("base64")}` };
    const basic = await call(server, "GET", "/api/v1/organization", { key: null, headers });
    expect(basic.status).toBe(401);
  });

  test("accepts the authorization scheme in any case", async () => {
    const headers = { authorization: `bearer ${server.apiKey}` };
    expect((await call(server, "GET", "/api/v1/organization", { key: null, headers })).status).toBe(200);
  });

  test("returns 404 for an unknown path, with and without a key", async () => {
    for (const path of [
      "/",
      "/api",
      "/api/v1",
      "/api/v1/nothing",
      "/api/v2/executions",
      "/env/x",
      "//health",
    ]) {
      expectError(await call(server, "GET", path), 404, "not_found", /This path does not exist/);
      expect((await call(server, "GET", path, { key: null })).status).toBe(404);
    }
  });

  test("returns 405 with the allowed methods", async () => {
    const cases: [method: string, path: string, allow: string][] = [
      ["DELETE", "/health", "GET, HEAD"],
      ["PUT", "/api/v1/deployments", "GET, HEAD, POST"],
      ["POST", "/api/v1/deployments/dep_1", "DELETE, GET, HEAD"],
      ["GET", "/api/v1/uploads", "POST"],
      ["GET", "/api/v1/webhooks/trigger/org_1/slug", "POST"],
      ["PATCH", "/env/staging/api/v1/executions", "GET, HEAD, POST"],
      ["POST", "/livez", "GET, HEAD"],
      ["DELETE", "/readyz", "GET, HEAD"],
    ];
    for (const [method, path, allow] of cases) {
      const answer = await call(server, method, path);
      expectError(
        answer,
        405,
        "unimplemented",
        new RegExp(`^The method ${method} is not allowed on this path`),
      );
      expect(answer.headers.get("allow")).toBe(allow);
    }
  });

  test("returns 415 for a body that is not JSON, and 400 for one that is not an object", async () => {
    const path = "/api/v1/executions";
    const cases: [type: string, body: string, status: number][] = [
      ["text/plain", "{}", 415],
      ["application/x-www-form-urlencoded", "name=a", 415],
      ["application/json; charset=utf-16", "{}", 415],
      ["application/json", "[]", 400],
      ["application/json", "1", 400],
      ["application/json", "null", 400],
      ["application/json", '"text"', 400],
      ["application/json", "{", 400],
      ["application/json", "{} {}", 400],
    ];
    for (const [type, body, status] of cases) {
      const answer = await call(server, "POST", path, { body, headers: { "content-type": type } });
      expectError(answer, status, "invalid_argument", /./);
    }
  });

  test("rejects a list of executions whose end is not after its start", async () => {
    const path = "/api/v1/executions?since=2026-05-01T12:00:00Z&until=2026-05-01T12:00:00Z";
    const message = /^Cannot use until: it must be later than since\.$/;
    expectError(await call(server, "GET", path), 400, "invalid_argument", message, "INVALID_FIELD");
  });

  test("returns 400 with the name of an unknown field or one of the wrong type", async () => {
    const post = (json: unknown) => call(server, "POST", "/api/v1/executions", { json });
    expectError(await post({ name: "a", inputt: {} }), 400, "invalid_argument", /inputt/);
    expectError(await post({ name: 5 }), 400, "invalid_argument", /name/);
    expectError(await post({ name: "a", input: [] }), 400, "invalid_argument", /input/);
    expectError(await post({ name: "a", kind: "agents" }), 400, "invalid_argument", /agent, workflow/);
    expectError(await post({ name: "a", environment: "a b" }), 400, "invalid_argument", /environment.*'a b'/);
  });

  test("reads both spellings of a field, and writes snake_case", async () => {
    const digest = "a".repeat(64);
    for (const json of [
      { digest, size_bytes: 5 },
      { digest, sizeBytes: 5 },
    ]) {
      const answer = await ok<object>(server, "POST", "/api/v1/uploads", { json });
      expect(Object.keys(answer).sort()).toEqual([
        "already_stored",
        "expires_at",
        "parts",
        "upload_id",
        "url",
      ]);
    }
    for (const query of ["page_size=1", "pageSize=1"]) {
      const page = await ok<DeploymentPage>(server, "GET", `/api/v1/deployments?${query}`);
      expect(page).toEqual({ deployments: [], next_page_token: "" });
    }
  });

  test("validates query parameters", async () => {
    const cases: [query: string, message: RegExp][] = [
      ["nothing=1", /'nothing'/],
      ["page_size=-1", /page_size/],
      ["page_size=ten", /page_size/],
      ["page_token=zzz", /page_token/],
      ["status=done", /pending, active, superseded, failed, deleted/],
      ["environment=..", /environment.*'\.\.'/],
    ];
    for (const [query, message] of cases) {
      const answer = await call(server, "GET", `/api/v1/deployments?${query}`);
      expectError(answer, 400, "invalid_argument", message);
    }
    expectError(
      await call(server, "GET", "/api/v1/executions?since=yesterday"),
      400,
      "invalid_argument",
      /since/,
    );
  });

  test("returns 404 for malformed and unknown identifiers", async () => {
    const ids = [
      "dep_00000000000000000000000000",
      "exe_1",
      "x",
      "%00",
      "a%2Fb",
      "'--",
      "%E2%82%AC",
      "a".repeat(300),
    ];
    for (const id of ids) {
      const answer = await call(server, "GET", `/api/v1/deployments/${id}`);
      expectError(answer, 404, "not_found", /^There is no deployment '/);
    }
    for (const path of ["executions", "schedules"]) {
      expect((await call(server, "GET", `/api/v1/${path}/nothing`)).status).toBe(404);
    }
    expect((await call(server, "GET", "/api/v1/deployments/%zz")).status).toBe(404);
  });

  test("gives the path precedence over the body", async () => {
    const answer = await call(server, "POST", "/api/v1/deployments/dep_path/rollback", {
      json: { deployment_id: "dep_body" },
    });
    expectError(answer, 404, "not_found", /'dep_path'/);
  });

  test("returns 413 with the limit for a body that exceeds it", async () => {
    const large = `{"name":"a","input":{"x":"${"x".repeat(3_000_000)}"}}`;
    const path = "/api/v1/executions";
    const whole = await call(server, "POST", path, { body: large });
    expectError(whole, 413, "resource_exhausted", /1048576 bytes \(SVC_MAX_WEBHOOK_BYTES\)/);
    const chunked = await call(server, "POST", path, { body: new Blob([large]).stream() });
    expectError(chunked, 413, "resource_exhausted", /1048576 bytes \(SVC_MAX_WEBHOOK_BYTES\)/);
  });

  test("returns 431 for headers over 16 KiB", async () => {
    const [answer] = await exchange(server, head("GET /livez", { "x-large": "x".repeat(20_000) }));
    expect(answer?.status).toBe(431);
    expect(JSON.parse(answer?.body ?? "") as ErrorJson).toMatchObject({ code: "resource_exhausted" });
  });

  test("answers 400 to bytes that are not HTTP, and keeps serving", async () => {
    for (const garbage of ["\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "PRIVET / HTTP/1.1\r\n\r\n"]) {
      const [answer] = await exchange(server, garbage).catch(() => []);
      if (answer !== undefined) expect(answer.status).toBe(400);
    }
    expect((await call(server, "GET", "/livez")).status).toBe(200);
  });

  test("responds to pipelined requests in order", async () => {
    const requests = ["/livez", "/nothing", "/readyz"].map((path) => head(`GET ${path}`)).join("");
    const answers = await exchange(server, requests, 3);
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 200]);
  });

  test("serves the documented paths below the base URL of an environment", async () => {
    expect((await call(server, "GET", "/env/staging/health")).status).toBe(200);
    expect((await call(server, "GET", "/env/staging/api/v1/schedules")).status).toBe(200);
    for (const path of [
      "/env/-x/health",
      "/env/a%20b/health",
      "/env//health",
      `/env/${"a".repeat(65)}/health`,
    ]) {
      expectError(await call(server, "GET", path), 404, "not_found", /This path does not exist/);
    }
  });
});
