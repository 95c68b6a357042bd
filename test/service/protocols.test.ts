import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Code, ConnectError, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { beforeAll, describe, expect, test } from "vitest";
import { DeploymentService } from "../../proto/svc/v1/deployment_pb.ts";
import { ExecutionService } from "../../proto/svc/v1/execution_pb.ts";
import { HealthService } from "../../proto/svc/v1/health_pb.ts";
import { WebhookService } from "../../proto/svc/v1/webhook_pb.ts";
import { deploy } from "../support/project.ts";
import { call, expectError, ok, open } from "../support/rest.ts";
import { bin, root } from "../support/runtimes.ts";
import type { HealthJson } from "../support/shapes.ts";
import { onRuntime } from "../support/suite.ts";

const agents = {
  echo: { code: "export default (input) => input;", webhooks: [{ slug: "hook" }] },
  prints: "export default () => { for (let n = 0; n < 300; n++) console.log('line ' + n); };",
};

interface TransportOptions {
  baseUrl: string;
  interceptors: Interceptor[];
}

/** Every protocol with each HTTP version and encoding that it supports. */
const transports: Record<string, (options: TransportOptions) => Transport> = {
  gRPC: (options) => createGrpcTransport(options),
  "gRPC in JSON": (options) => createGrpcTransport({ ...options, useBinaryFormat: false }),
  "gRPC-Web over HTTP/1.1": (options) => createGrpcWebTransport({ ...options, httpVersion: "1.1" }),
  "gRPC-Web over HTTP/2": (options) => createGrpcWebTransport({ ...options, httpVersion: "2" }),
  "Connect over HTTP/1.1": (options) => createConnectTransport({ ...options, httpVersion: "1.1" }),
  "Connect over HTTP/2": (options) => createConnectTransport({ ...options, httpVersion: "2" }),
  "Connect in binary over HTTP/2": (options) =>
    createConnectTransport({ ...options, httpVersion: "2", useBinaryFormat: true }),
};

onRuntime("deno", "protocols", {}, (server) => {
  let org = "";
  beforeAll(async () => {
    await deploy(server, { agents });
    org = (await ok<HealthJson>(server, "GET", "/health")).organization;
  });

  describe.each(Object.keys(transports))("%s", (name) => {
    const connect = (key = server.apiKey, baseUrl = server.url) => {
      const authorize: Interceptor = (next) => (request) => {
        if (key !== "") request.header.set("authorization", `Bearer ${key}`);
        return next(request);
      };
      const make = transports[name];
      if (make === undefined) throw new Error("Unknown transport.");
      return make({ baseUrl, interceptors: [authorize] });
    };

    test("responds to a call", async () => {
      const health = await createClient(HealthService, connect()).check({});
      expect(health).toMatchObject({ status: "ok", organization: org });
      expect(health.runtime).toContain(server.runtime);
    });

    test("returns the code and message of an error, and no internals", async () => {
      const deployments = createClient(DeploymentService, connect());
      const missing = await failure(deployments.getDeployment({ deploymentId: "dep_1" }));
      expect([missing.code, missing.rawMessage]).toEqual([Code.NotFound, "There is no deployment 'dep_1'."]);
      const invalid = await failure(deployments.createUpload({ digest: "x" }));
      expect(invalid.code).toBe(Code.InvalidArgument);
      const tooLarge = { digest: "0".repeat(64), sizeBytes: 2n ** 31n };
      const refused = await failure(deployments.createUpload(tooLarge));
      expect(refused.metadata.get("svc-http-status")).toBeNull();
      const unknown = await failure(createClient(HealthService, connect("")).check({}));
      expect(unknown.code).toBe(Code.Unauthenticated);
      const wrong = await failure(createClient(HealthService, connect("svc_a_0123456789abcdef")).check({}));
      expect(wrong.code).toBe(Code.Unauthenticated);
    });

    test("triggers a webhook without a key, and streams its execution to the end", async () => {
      const webhooks = createClient(WebhookService, connect(""));
      const payload = { text: "ä", list: [1, null] };
      const target = { orgId: org, agentName: "echo", slug: "hook" };
      const { executionId, status } = await webhooks.triggerWebhook({ ...target, payload });
      expect(status).toBe("queued");
      const executions = createClient(ExecutionService, connect());
      const events = await Array.fromAsync(executions.watchExecution({ executionId }));
      const states = events.flatMap(({ event }) => (event.case === "execution" ? event.value.status : []));
      expect(states.at(-1)).toBe("succeeded");
      expect(await executions.getExecution({ executionId })).toMatchObject({
        input: payload,
        trigger: "webhook",
      });
      const bad = await failure(webhooks.triggerWebhook({ ...target, webhookSlug: "hook", payload }));
      expect(bad.code).toBe(Code.InvalidArgument);
      const none = await failure(webhooks.triggerWebhook({ ...target, slug: "none", payload }));
      expect(none.code).toBe(Code.NotFound);
    });

    test("streams in order, and allows the client to cancel", async () => {
      const executions = createClient(ExecutionService, connect());
      const { executionId } = await executions.runExecution({ name: "prints" });
      const messages: string[] = [];
      for await (const { event } of executions.watchExecution({ executionId })) {
        if (event.case === "log") messages.push(event.value.message);
      }
      expect(messages).toEqual(Array.from({ length: 300 }, (_, number) => `line ${number}`));
      for await (const { log } of executions.tailLogs({ follow: true, lines: 1 })) {
        expect(log?.message).not.toBe("");
        break;
      }
      const broken = await failure(Array.fromAsync(executions.watchExecution({ executionId: "exe_1" })));
      expect(broken.code).toBe(Code.NotFound);
    });

    test("serves the base URL of an environment", async () => {
      const executions = createClient(ExecutionService, connect(server.apiKey, `${server.url}/env/staging`));
      const absent = await failure(executions.runExecution({ name: "echo" }));
      expect([absent.code, absent.rawMessage]).toEqual([
        Code.NotFound,
        expect.stringContaining("in staging"),
      ]);
    });
  });

  describe("without a client library", () => {
    test("accepts a POST of JSON, and returns errors in the public format", async () => {
      const path = "/svc.v1.HealthService/Check";
      const answer = await call<HealthJson>(server, "POST", path, { json: {} });
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual(await ok(server, "GET", "/health"));
      const refusal = await call(server, "POST", path, { json: {}, key: null });
      expect(refusal.status).toBe(401);
      expectError(refusal, 401, "unauthenticated", /API key/, "API_KEY_MISSING");
    });

    test("accepts a Connect GET of a method without side effects, and authenticates it", async () => {
      const path = "/svc.v1.HealthService/Check?connect=v1&encoding=json&message=%7B%7D";
      const answer = await call<HealthJson>(server, "GET", path);
      expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
      expect(answer.json.organization).toBe(org);
      expect((await call(server, "GET", path, { key: null })).status).toBe(401);
      expect(await (await open(server, "HEAD", path)).text()).toBe("");
      expect((await call(server, "GET", "/svc.v1.HealthService/Check")).status).toBe(415);
    });

    test("rejects an unknown method or service", async () => {
      for (const path of ["/svc.v1.HealthService/Nothing", "/svc.v1.Nothing/Check"]) {
        const { status } = await call(server, "POST", path, { json: {} });
        expect([404, 501]).toContain(status);
      }
      const post = await call(server, "GET", "/svc.v1.ExecutionService/RunExecution");
      expect([post.status, post.headers.get("allow")]).toEqual([405, "POST"]);
      const plain = { body: "x", headers: { "content-type": "text/plain" } };
      expect((await call(server, "POST", "/svc.v1.HealthService/Check", plain)).status).toBe(415);
    });
  });

  test.each(["grpc", "grpcweb", "connect"])("responds to buf curl over %s", async (protocol) => {
    const args = ["curl", "--schema", "proto", "--protocol", protocol, "--data", "{}"];
    if (protocol === "grpc") args.push("--http2-prior-knowledge");
    args.push(
      "--header",
      `Authorization: Bearer ${server.apiKey}`,
      `${server.url}/svc.v1.HealthService/Check`,
    );
    const { stdout } = await promisify(execFile)(bin("buf"), args, { cwd: root });
    expect(JSON.parse(stdout)).toMatchObject({ status: "ok", organization: org });
  });
});

async function failure(promise: Promise<unknown>): Promise<ConnectError> {
  try {
    await promise;
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("The call did not fail.");
}
