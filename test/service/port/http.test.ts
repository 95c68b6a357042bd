/** Details of HTTP and gRPC that clients and proxies rely on. */
import { connect as connectHttp2 } from "node:http2";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { DeploymentService } from "../../../proto/svc/v1/deployment_pb.ts";
import { ExecutionService } from "../../../proto/svc/v1/execution_pb.ts";
import { exchange, head } from "../../support/raw.ts";
import { call, expectError, lines, open } from "../../support/rest.ts";
import { onEveryRuntime } from "../../support/suite.ts";

// Messages have at most six times this size: 2 MiB.
onEveryRuntime("HTTP", { env: { SVC_MAX_WEBHOOK_BYTES: "349525" } }, (server) => {
  const authorization = () => ({ authorization: `Bearer ${server.apiKey}` });

  test("responds to HEAD like to GET, without a body", async () => {
    for (const path of ["/livez", "/readyz", "/api/v1/organization"]) {
      const answer = await open(server, "HEAD", path);
      expect([answer.status, await answer.text()]).toEqual([200, ""]);
      expect(answer.headers.get("content-type")).toBe("application/json");
    }
    expect((await open(server, "HEAD", "/api/v1/deployments/dep_1")).status).toBe(404);
  });

  test("accepts the absolute form of a request target", async () => {
    const request = `GET ${server.url}/api/v1/executions?name=x HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.apiKey}\r\n\r\n`;
    expect((await exchange(server, request))[0]?.status).toBe(200);
  });

  test("rejects query parameters that a method does not have, with a body too", async () => {
    const path = "/api/v1/executions";
    for (const [query, advice] of [
      ["environment=staging", /environment.*body/],
      ["nothing=1", /nothing/],
    ] as const) {
      const answer = await call(server, "POST", `${path}?${query}`, { json: { name: "x" } });
      expectError(answer, 400, "invalid_argument", advice);
    }
  });

  test("reads only true and false as booleans in a query", async () => {
    const path = "/api/v1/webhooks/list?api_key_only=";
    for (const text of ["true", "false"]) expect((await call(server, "GET", path + text)).status).toBe(200);
    for (const text of ["True", "TRUE", "1", "t", ""]) {
      const answer = await call(server, "GET", path + text);
      expectError(answer, 400, "invalid_argument", /api_key_only: it must be true or false/);
    }
  });

  test("sends 100 Continue only to a request that it does not reject", async () => {
    const body = JSON.stringify({ name: "none" });
    const headers = {
      "content-type": "application/json",
      "content-length": body.length,
      expect: "100-continue",
    };
    const rejected = await exchange(server, head("POST /api/v1/executions", headers));
    expect(rejected[0]?.status).toBe(401);
    const path = "/api/v1/executions";
    const [invited] = await exchange(server, head(`POST ${path}`, { ...headers, ...authorization() }));
    expect(invited?.status).toBe(100);
    const both = await exchange(server, head(`POST ${path}`, { ...headers, ...authorization() }) + body, 2);
    expect(both.map(({ status }) => status)).toEqual([100, 404]);
  });

  test("responds to malformed protobuf with invalid_argument", async () => {
    const body = new Uint8Array([0xff, 0xff, 0xff]);
    const path = "/svc.v1.WebhookService/TriggerWebhook";
    const headers = { "content-type": "application/proto" };
    const answer = await call(server, "POST", path, { key: null, body, headers });
    expectError(answer, 400, "invalid_argument", /parse binary/);
  });

  test("responds to gRPC for an unknown service or method with the status unimplemented", async () => {
    const session = connectHttp2(server.url);
    for (const path of [
      "/svc.v1.Nothing/Check",
      "/svc.v1.HealthService/Nothing",
      "/other.v2.Service/Call",
      "/a.B/C",
    ]) {
      const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
        const stream = session.request({
          ":method": "POST",
          ":path": path,
          "content-type": "application/grpc",
        });
        stream.once("response", resolve).once("error", reject);
        stream.resume();
        stream.end(Buffer.alloc(5));
      });
      expect(headers).toMatchObject({ ":status": 200, "grpc-status": "12" });
    }
    session.close();
  });

  test("percent-encodes in a gRPC message only what decodeURI decodes", async () => {
    const session = connectHttp2(server.url);
    const trailers = await new Promise<Record<string, unknown>>((resolve, reject) => {
      const stream = session.request({
        ":method": "POST",
        ":path": "/svc.v1.DeploymentService/GetDeployment",
        "content-type": "application/grpc",
        ...authorization(),
      });
      stream.once("trailers", resolve).once("error", reject);
      stream.resume();
      const id = Buffer.from("a:b,c#é%");
      stream.end(Buffer.concat([Buffer.from([0, 0, 0, 0, id.length + 2, 0x0a, id.length]), id]));
    });
    const message = String(trailers["grpc-message"]);
    expect(message).toContain("a:b,c#%C3%A9%25");
    session.close();
    const deployments = createClient(
      DeploymentService,
      createGrpcTransport({
        baseUrl: server.url,
        interceptors: [
          (next) => (request) => {
            request.header.set("authorization", `Bearer ${server.apiKey}`);
            return next(request);
          },
        ],
      }),
    );
    const error = await deployments.getDeployment({ deploymentId: "a:b,c#é%" }).catch(ConnectError.from);
    expect(error).toMatchObject({ rawMessage: expect.stringContaining("'a:b,c#é%'") });
  });

  // A connection allows 128 open streams, and a window of 64 KiB for the bytes of a stream that were not read.
  test("refuses many oversized gRPC calls over one connection", async () => {
    const session = connectHttp2(server.url);
    const begun = Buffer.alloc(100 * 1024);
    begun.writeUInt32BE(3 * 1024 ** 2, 1);
    for (let calls = 0; calls < 140; calls++) {
      const stream = session.request({
        ":method": "POST",
        ":path": "/svc.v1.ExecutionService/RunExecution",
        "content-type": "application/grpc",
        ...authorization(),
      });
      const answered = new Promise<Record<string, unknown>>((resolve, reject) => {
        stream.once("response", resolve).once("trailers", resolve).once("error", reject);
      });
      const closed = new Promise((resolve) => stream.once("close", resolve));
      stream.resume();
      stream.end(begun);
      const headers = await answered;
      expect(headers["grpc-status"]).toBe(String(Code.ResourceExhausted));
      await closed;
    }
    session.close();
  });

  test.each([
    ["gRPC", 4],
    ["gRPC-Web", 4],
  ])("refuses oversized %s calls over one connection", async (protocol, count) => {
    const options = {
      baseUrl: server.url,
      interceptors: [
        (next: (request: never) => Promise<never>) => (request: never) => {
          (request as { header: Headers }).header.set("authorization", `Bearer ${server.apiKey}`);
          return next(request);
        },
      ],
    };
    const transport =
      protocol === "gRPC"
        ? createGrpcTransport(options as never)
        : createGrpcWebTransport({ ...options, httpVersion: "1.1" } as never);
    const executions = createClient(ExecutionService, transport);
    const input = { text: "x".repeat(2.2 * 1024 ** 2) };
    const codes = new Map<string, number>();
    for (let calls = 0; calls < count; calls++) {
      const error = await executions.runExecution({ name: "none", input }).catch(ConnectError.from);
      const code = error instanceof ConnectError ? (Code[error.code] ?? "") : "none";
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(Object.fromEntries(codes)).toEqual({ ResourceExhausted: count });
    expect(await executions.listExecutions({})).toBeDefined();
  });

  test("ends a silent stream completely when the server stops", async () => {
    const response = await open(server, "GET", "/api/v1/logs?follow=true&lines=0");
    const followed = Array.fromAsync(lines(response));
    const rpcs = [
      createGrpcTransport({ baseUrl: server.url }),
      createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" }),
    ].map((transport) => {
      const executions = createClient(ExecutionService, transport);
      const stream = executions.tailLogs({ follow: true, lines: 0 }, { headers: authorization() });
      return Array.fromAsync(stream).then(
        () => "ended",
        (error: unknown) => Code[ConnectError.from(error).code],
      );
    });
    await call(server, "GET", "/health");
    expect(await server.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(await followed).toEqual([]);
    expect(await Promise.all(rpcs)).toEqual(["ended", "ended"]);
    await server.start();
  });
});
