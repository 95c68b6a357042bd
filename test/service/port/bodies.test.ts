/** Bodies: which are read at all, how large they may become, and how long they may take. */
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { brotliCompressSync, constants as compression, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { exchange, head } from "../../support/raw.ts";
import { call, ok } from "../../support/rest.ts";
import { onS3 } from "../../support/server.ts";
import type { HealthJson, UploadJson } from "../../support/shapes.ts";
import { onEveryRuntime } from "../../support/suite.ts";

const runExecution = "/svc.v1.ExecutionService/RunExecution";
const watchExecution = "/svc.v1.ExecutionService/WatchExecution";
const trigger = "/svc.v1.WebhookService/TriggerWebhook";
/** 64 MiB of a character, compressed once for all runtimes, and not as well as possible: that would take seconds. */
const bombs = {
  spaces: new Uint8Array(gzipSync(Buffer.alloc(64 * 1024 ** 2, " "), { level: 1 })),
  gzip: gzipSync(Buffer.alloc(64 * 1024 ** 2), { level: 1 }),
  br: brotliCompressSync(Buffer.alloc(64 * 1024 ** 2), {
    params: { [compression.BROTLI_PARAM_QUALITY]: 1 },
  }),
};
const wrongKey = "Bearer svc_0000000000000000_0000000000000000000000000000000000000000000";

onEveryRuntime("bodies", {}, (server) => {
  describe("a call without a valid key", () => {
    // Nothing of the body is ever sent: a server that reads it first does not respond.
    test.each([
      ["REST", "POST /api/v1/executions", "application/json"],
      ["Connect", `POST ${runExecution}`, "application/json"],
      ["Connect in binary", `POST ${runExecution}`, "application/proto"],
    ])("is rejected over %s before its body arrives", async (_, line, type) => {
      const variants: Record<string, string>[] = [
        {},
        { authorization: wrongKey },
        { "content-encoding": "gzip" },
      ];
      for (const headers of variants) {
        const request = head(line, { "content-type": type, "content-length": 100_000, ...headers });
        const [answer] = await exchange(server, request);
        expect(answer?.status).toBe(401);
        expect(JSON.parse(answer?.body ?? "")).toMatchObject({ code: "unauthenticated" });
      }
    });

    test("is rejected over gRPC before its body arrives", async () => {
      for (const path of [runExecution, watchExecution]) {
        const { headers, trailers } = await grpc(server.url, path, { "grpc-encoding": "gzip" });
        expect(headers[":status"]).toBe(200);
        expect({ ...headers, ...trailers }["grpc-status"]).toBe("16");
      }
    });

    test("is rejected over gRPC-Web and Connect streaming before its body arrives", async () => {
      for (const type of ["application/grpc-web+proto", "application/connect+json"]) {
        const text = head(`POST ${watchExecution}`, { "content-type": type, "content-length": 100_000 });
        const received = await firstBytes(server.url, text, /unauthenticated|grpc-status: 16/);
        expect(received).toMatch(/^HTTP\/1\.1 200 /);
      }
    });
  });

  test("rejects a call whose key lacks the scope before its body arrives", async () => {
    const { token } = await ok<{ token: string }>(server, "POST", "/api/v1/keys", {
      json: { name: "reader", scope: "read" },
    });
    for (const line of ["POST /api/v1/executions", `POST ${runExecution}`]) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const [answer] = await exchange(server, head(line, { ...headers, "content-length": 100_000 }));
      expect(answer?.status).toBe(403);
      expect(answer?.body).toContain("needs scope");
    }
  });

  test("rejects a compressed body of a call that needs no key", async () => {
    const body = new Uint8Array(gzipSync(JSON.stringify({ org_id: "org_x", slug: "x", payload: {} })));
    const headers = { "content-encoding": "gzip" };
    const answer = await call(server, "POST", trigger, { key: null, body, headers });
    expect(answer.json).toMatchObject({
      code: "unimplemented",
      message: expect.stringContaining("compressed"),
    });
  });

  test("limits the expanded size of a compressed body", async () => {
    const headers = { "content-encoding": "gzip" };
    const answer = await call(server, "POST", runExecution, { body: bombs.spaces, headers });
    expect(answer.json.code).toBe("resource_exhausted");
    for (const coding of ["gzip", "br"] as const) {
      const message = bombs[coding];
      const prefix = Buffer.alloc(5, 1);
      prefix.writeUInt32BE(message.byteLength, 1);
      const request = new Uint8Array(Buffer.concat([prefix, message]));
      for (const [type, header] of [
        ["application/grpc-web+proto", "grpc-encoding"],
        ["application/connect+proto", "connect-content-encoding"],
      ] as const) {
        const sent = { body: request, headers: { "content-type": type, [header]: coding } };
        const { text } = await call(server, "POST", watchExecution, sent);
        expect(text, `${coding} over ${type}`).toMatch(/grpc-status: 8|"code":"resource_exhausted"/);
      }
    }
    const body = new Uint8Array(gzipSync("{}"));
    const small = await call<HealthJson>(server, "POST", "/svc.v1.HealthService/Check", { body, headers });
    expect(small.json.status).toBe("ok");
  });

  test("ends requests whose body, or whose rest of a body, arrives too slowly", async () => {
    const { url } = await ok<UploadJson>(server, "POST", "/api/v1/uploads", {
      json: { digest: "0".repeat(64), size_bytes: 1_000_000 },
    });
    const { pathname, search } = new URL(url);
    const key = { authorization: `Bearer ${server.apiKey}` };
    const json = { "content-type": "application/json", "content-length": 1000 };
    const cases: Record<string, [request: string, status: number]> = {
      "an RPC": [head("POST /svc.v1.HealthService/Check", { ...json, ...key }), 504],
      "a rejected RPC": [head("POST /svc.v1.HealthService/Check", json), 401],
      "a rejected REST call": [head("POST /api/v1/executions", json), 401],
      "an unknown path": [head("POST /nothing", json), 404],
      "a GET request": [head("GET /livez", json), 200],
    };
    // Clients upload to S3 directly.
    if (!onS3) cases["an upload"] = [head(`PUT ${pathname}${search}`, { "content-length": 1_000_000 }), 408];
    const results = Object.entries(cases).map(async ([name, [request, status]]) => {
      expect(await trickle(server.url, request), name).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    });
    await Promise.all(results);
  });
});

/** Sends a request and then a byte per second of its body until the server closes the connection. @returns the response */
function trickle(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    const timer = setInterval(() => void socket.write("x"), 1000);
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      clearInterval(timer);
      resolve(received);
    });
  });
}

interface GrpcAnswer {
  headers: Record<string, unknown>;
  trailers: Record<string, unknown>;
}

/** Opens a gRPC call, sends no message, and does not end the request. */
function grpc(url: string, path: string, more: Record<string, string> = {}): Promise<GrpcAnswer> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(url);
    session.once("error", reject);
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...more,
    });
    let headers = {};
    let trailers = {};
    stream.once("response", (received) => (headers = received));
    stream.once("trailers", (received) => (trailers = received));
    stream.once("end", () => {
      stream.close(constants.NGHTTP2_CANCEL);
      session.destroy();
      resolve({ headers, trailers });
    });
    stream.once("error", reject);
    stream.resume();
  });
}

/** Sends bytes and returns what arrives until it matches. */
function firstBytes(url: string, bytes: string, until: RegExp): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (!until.test(received)) return;
      socket.destroy();
      resolve(received);
    });
    socket.once("error", reject);
    socket.once("close", () => reject(new Error(`The connection closed after: ${received}`)));
  });
}
