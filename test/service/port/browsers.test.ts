/** Cross-origin requests of browsers, and the methods of paths. */
import { describe, expect, test } from "vitest";
import { type CallOptions, call, open } from "../../support/rest.ts";
import { TestServer } from "../../support/server.ts";
import { onRuntime, useServer } from "../../support/suite.ts";

const origin = "https://app.example.com";
const paths = ["/api/v1/executions", "/svc.v1.ExecutionService/RunExecution", "/health"];

onRuntime("node", "CORS", { env: { SVC_CORS_ORIGINS: `${origin}, http://localhost:5173` } }, (server) => {
  const preflight = (path: string, from: string) =>
    open(server, "OPTIONS", path, {
      key: null,
      headers: {
        origin: from,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,connect-protocol-version,x-grpc-web",
      },
    });

  test("answers the preflight requests of an allowed origin without a key", async () => {
    for (const path of [...paths, "/env/staging/api/v1/executions"]) {
      const answer = await preflight(path, origin);
      expect([answer.status, await answer.text()]).toEqual([204, ""]);
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
      expect(answer.headers.get("access-control-allow-methods")).toContain("POST");
      for (const name of [
        "authorization",
        "content-type",
        "connect-protocol-version",
        "x-grpc-web",
        "grpc-timeout",
      ]) {
        expect(answer.headers.get("access-control-allow-headers")).toContain(name);
      }
      expect(answer.headers.get("access-control-max-age")).toBe("7200");
      expect(answer.headers.get("vary")).toMatch(/Origin.*Access-Control-Request-Headers/);
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    }
  });

  test("sends no permission to other origins", async () => {
    for (const other of [
      "https://app.example.com.evil.example",
      "https://evil.example",
      "null",
      "HTTPS://APP.EXAMPLE.COM",
    ]) {
      const asked = await preflight("/api/v1/executions", other);
      expect(asked.headers.get("access-control-allow-origin"), other).toBeNull();
      expect(asked.headers.get("vary")).toBe("Origin");
      const headers = { origin: other };
      const answer = await call(server, "GET", "/api/v1/executions", { headers });
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, null]);
    }
  });

  test.each<[string, string, string, CallOptions]>([
    ["REST", "GET", "/api/v1/executions", {}],
    ["an error of REST", "GET", "/api/v1/executions", { key: null }],
    ["Connect", "POST", "/svc.v1.HealthService/Check", { json: {} }],
    ["an error of Connect", "POST", "/svc.v1.HealthService/Check", { json: {}, key: null }],
    [
      "gRPC-Web",
      "POST",
      "/svc.v1.HealthService/Check",
      { body: new Uint8Array(5), headers: { "content-type": "application/grpc-web+proto" } },
    ],
    ["a stream", "GET", "/api/v1/logs", {}],
    ["an unknown path", "GET", "/none", {}],
  ])("allows the origin to read the response of %s", async (_name, method, path, options) => {
    const answer = await call(server, method, path, { ...options, headers: { ...options.headers, origin } });
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    expect(answer.headers.get("access-control-expose-headers")).toContain("grpc-status-details-bin");
    expect(answer.headers.get("vary")).toBe("Origin");
  });

  test("lists the methods of a path in the response to OPTIONS", async () => {
    for (const [path, allow] of [
      ["/api/v1/executions", "GET, HEAD, POST, OPTIONS"],
      ["/svc.v1.ExecutionService/RunExecution", "POST, OPTIONS"],
      ["/svc.v1.HealthService/Check", "GET, HEAD, POST, OPTIONS"],
      ["/livez", "GET, HEAD, OPTIONS"],
    ] as const) {
      const answer = await open(server, "OPTIONS", path, { key: null });
      expect([answer.status, answer.headers.get("allow")], path).toEqual([204, allow]);
    }
  });
});

describe("without a list of origins", () => {
  const server = useServer("bun");

  test("sends no CORS headers", async () => {
    const answer = await call(server, "GET", "/api/v1/executions", { headers: { origin } });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, null]);
  });
});

describe("with every origin", () => {
  const server = useServer("bun", { env: { SVC_CORS_ORIGINS: "*" } });

  test("sends * and no permission for credentials", async () => {
    const answer = await call(server, "GET", "/api/v1/executions", { headers: { origin } });
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  });
});

test.each(["app.example.com", "https://app.example.com/path", "https://*.example.com"])(
  "the server rejects the origin '%s' at its start",
  async (value) => {
    const server = new TestServer("bun", { env: { SVC_CORS_ORIGINS: value } });
    await expect(server.start()).rejects.toThrow(`not '${value}'`);
    await server.discard(false);
  },
);
