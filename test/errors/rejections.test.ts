/** A rejected call has the same code and reason over gRPC, gRPC-Web, Connect and REST. */
import { fromBinary } from "@bufbuild/protobuf";
import { anyIs, anyUnpack } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { beforeAll, describe, expect, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../proto/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../proto/google/rpc/status_pb.ts";
import { DeploymentService } from "../../proto/svc/v1/deployment_pb.ts";
import { ExecutionService } from "../../proto/svc/v1/execution_pb.ts";
import { reasons } from "../../server/errors/reasons.ts";
import { deploy } from "../support/project.ts";
import { type Answer, call, ok, reasonOf } from "../support/rest.ts";
import type { TestServer } from "../support/server.ts";
import type { ErrorJson } from "../support/shapes.ts";
import { onRuntime } from "../support/suite.ts";

interface Options {
  baseUrl: string;
  interceptors: Interceptor[];
}

const protocols: Record<string, (options: Options) => Transport> = {
  gRPC: (options) => createGrpcTransport(options),
  "gRPC-Web": (options) => createGrpcWebTransport({ ...options, httpVersion: "1.1" }),
  Connect: (options) => createConnectTransport({ ...options, httpVersion: "1.1" }),
};

type Outcome = [code: string, reason: string | undefined];

interface Rejection {
  name: string;
  /** The key of the calls. Default: the key of the server. */
  key?(server: TestServer): Promise<string>;
  /** Headers of the RPC calls that replace those of the client. */
  headers?(protocol: string): Record<string, string>;
  rpc(transport: Transport): Promise<unknown>;
  rest(server: TestServer, key: string): Promise<Answer<ErrorJson>>;
  expected: Outcome;
  /** The outcome over REST where the protocol cannot have the same one, and why. */
  overRest?: { expected: Outcome; because: string };
}

const missing = "exe_00000000000000000000000000";
const large = { name: "echo", input: { text: "x".repeat(2_200_000) } };
const get = (server: TestServer, path: string, key = server.apiKey) => call(server, "GET", path, { key });
const executions = (transport: Transport) => createClient(ExecutionService, transport);

const rejections: Rejection[] = [
  {
    name: "an unknown key",
    key: async () => "svc_a_0123456789abcdef",
    rpc: (transport) => executions(transport).getExecution({ executionId: missing }),
    rest: (server, key) => get(server, `/api/v1/executions/${missing}`, key),
    expected: ["Unauthenticated", "API_KEY_INVALID"],
  },
  {
    name: "a missing scope",
    async key(server) {
      const json = { name: "reader", scope: "read" };
      return (await ok<{ token: string }>(server, "POST", "/api/v1/keys", { json })).token;
    },
    rpc: (transport) => executions(transport).runExecution({ name: "echo" }),
    rest: (server, key) => call(server, "POST", "/api/v1/executions", { key, json: { name: "echo" } }),
    expected: ["PermissionDenied", "SCOPE_MISSING"],
  },
  {
    name: "a field that breaks its rule",
    rpc: (transport) => executions(transport).listExecutions({ status: "done", pageSize: -1 }),
    rest: (server) => get(server, "/api/v1/executions?status=done&page_size=-1"),
    expected: ["InvalidArgument", "INVALID_FIELD"],
  },
  {
    name: "a field that breaks its rule, in a stream",
    rpc: (transport) => Array.fromAsync(executions(transport).tailLogs({ lines: 10_001 })),
    rest: (server) => get(server, "/api/v1/logs?lines=10001"),
    expected: ["InvalidArgument", "INVALID_FIELD"],
  },
  {
    name: "an unknown resource",
    rpc: (transport) => executions(transport).getExecution({ executionId: missing }),
    rest: (server) => get(server, `/api/v1/executions/${missing}`),
    expected: ["NotFound", "RESOURCE_NOT_FOUND"],
  },
  {
    name: "an unknown resource, in a stream",
    rpc: (transport) => Array.fromAsync(executions(transport).watchExecution({ executionId: missing })),
    rest: (server) => get(server, `/api/v1/executions/${missing}/watch`),
    expected: ["NotFound", "RESOURCE_NOT_FOUND"],
  },
  {
    name: "a token of other filters",
    async rpc(transport) {
      const deployments = createClient(DeploymentService, transport);
      const { nextPageToken } = await deployments.listDeployments({ pageSize: 1 });
      expect(nextPageToken).not.toBe("");
      return deployments.listDeployments({ pageSize: 1, pageToken: nextPageToken, status: "active" });
    },
    async rest(server) {
      const first = await call<{ next_page_token: string }>(server, "GET", "/api/v1/deployments?page_size=1");
      return get(server, `/api/v1/deployments?status=active&page_token=${first.json.next_page_token}`);
    },
    expected: ["InvalidArgument", "INVALID_PAGE_TOKEN"],
  },
  {
    name: "a number that would lose digits",
    rpc: (transport) => executions(transport).runExecution({ name: "echo", input: { ids: [1, 2 ** 53] } }),
    rest: (server) =>
      call(server, "POST", "/api/v1/executions", {
        body: '{"name":"echo","input":{"ids":[1,9007199254740993]}}',
      }),
    expected: ["InvalidArgument", "NUMBER_OUT_OF_RANGE"],
  },
  {
    name: "an oversized message",
    rpc: (transport) => executions(transport).runExecution(large),
    rest: (server) => call(server, "POST", "/api/v1/executions", { json: large }),
    expected: ["ResourceExhausted", "BODY_TOO_LARGE"],
  },
  {
    name: "an unknown method",
    rpc: (transport) => {
      const { getExecution } = ExecutionService.method;
      return transport.unary({ ...getExecution, name: "Nothing" }, undefined, undefined, undefined, {});
    },
    rest: (server) => call(server, "POST", "/api/v1/executions:nothing"),
    expected: ["Unimplemented", "METHOD_UNKNOWN"],
    overRest: {
      expected: ["NotFound", "PATH_UNKNOWN"],
      because: "a path that matches no rule names no method",
    },
  },
  {
    name: "a wrong content type",
    headers: (protocol) => ({
      "content-type":
        { gRPC: "application/grpc+xml", "gRPC-Web": "application/grpc-web+xml" }[protocol] ?? "text/xml",
    }),
    rpc: (transport) => executions(transport).runExecution({ name: "echo" }),
    rest: (server) =>
      call(server, "POST", "/api/v1/executions", { body: "<x/>", headers: { "content-type": "text/xml" } }),
    expected: ["InvalidArgument", "UNSUPPORTED_MEDIA_TYPE"],
  },
  {
    name: "a deadline that has passed",
    // Clients with a timeout of their own end the call before the response of the server arrives.
    headers: () => ({ "grpc-timeout": "200m", "connect-timeout-ms": "200" }),
    // No entry matches, so the deadline passes before the response begins.
    rpc: (transport) =>
      Array.fromAsync(executions(transport).tailLogs({ follow: true, environment: "none" })),
    rest: (server) =>
      call(server, "GET", "/api/v1/logs?follow=true&environment=none", {
        headers: { "connect-timeout-ms": "50" },
      }),
    expected: ["DeadlineExceeded", "DEADLINE_EXCEEDED"],
  },
];

const codeOf = (json: ErrorJson) => Code[codeFromString(json.code as "internal") ?? Code.Internal];

onRuntime("node", "a rejection", {}, (server) => {
  beforeAll(async () => {
    await deploy(server, { agents: { echo: "export default (input) => input;" } });
    await deploy(server, { agents: { echo: "export default () => 1;" } });
  });

  function connect(protocol: string, key = server.apiKey, headers: Record<string, string> = {}): Transport {
    const authorize: Interceptor = (next) => (request) => {
      request.header.set("authorization", `Bearer ${key}`);
      for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
      return next(request);
    };
    const make = protocols[protocol];
    if (make === undefined) throw new Error("Unknown protocol.");
    return make({ baseUrl: server.url, interceptors: [authorize] });
  }

  describe.each(rejections)("for $name", ({ rpc, rest, key, headers, expected, overRest }) => {
    test.each(Object.keys(protocols))("over %s", async (protocol) => {
      const error = await failure(rpc(connect(protocol, await key?.(server), headers?.(protocol))));
      const [info] = error.findDetails(ErrorInfoSchema);
      expect([Code[error.code], info?.reason]).toEqual(expected);
      expect(info?.domain).toBe("svc");
    });

    test(overRest === undefined ? "over REST" : `over REST, where ${overRest.because}`, async () => {
      const { json } = await rest(server, (await key?.(server)) ?? server.apiKey);
      expect([codeOf(json), reasonOf(json)]).toEqual(overRest?.expected ?? expected);
      expect(Object.keys(reasons)).toContain(reasonOf(json));
    });
  });

  test("names all invalid fields at once", async () => {
    const error = await failure(executions(connect("gRPC")).listExecutions({ status: "done", pageSize: -1 }));
    const [violations] = error.findDetails(BadRequestSchema);
    expect(violations?.fieldViolations.map(({ field, reason }) => `${field} ${reason}`)).toEqual([
      "status STRING_IN",
      "page_size INT32_GTE",
    ]);
  });

  describe("before a message is read", () => {
    const path = "/svc.v1.ExecutionService/GetExecution";
    const stream = "/svc.v1.ExecutionService/WatchExecution";
    const post = (to: string, type: string, body: string | Uint8Array<ArrayBuffer>) =>
      call(server, "POST", to, { body, headers: { "content-type": type } });

    test("of a wrong content type, of a stream", async () => {
      // Connect has HTTP status 415 for it, also for streams, whose clients do not read its body.
      const { status, json } = await post(stream, "text/plain", "x");
      expect([status, codeOf(json), reasonOf(json)]).toEqual([
        415,
        "InvalidArgument",
        "UNSUPPORTED_MEDIA_TYPE",
      ]);
      const grpc = await post(stream, "application/grpc-web+xml", "x");
      expect([grpc.status, grpc.headers.get("grpc-status")]).toEqual([200, "3"]);
    });

    test("of an unknown field", async () => {
      const { json } = await post(path, "application/json", '{"execution_ids":"x"}');
      expect([codeOf(json), reasonOf(json)]).toEqual(["InvalidArgument", "UNKNOWN_FIELD"]);
      const rest = await get(server, "/api/v1/executions?nothing=1");
      expect([codeOf(rest.json), reasonOf(rest.json)]).toEqual(["InvalidArgument", "UNKNOWN_FIELD"]);
    });

    test("of a field of another type", async () => {
      for (const to of ["/svc.v1.ExecutionService/RunExecution", "/api/v1/executions"]) {
        const { json } = await post(to, "application/json", '{"name":5}');
        expect([codeOf(json), reasonOf(json)], to).toEqual(["InvalidArgument", "INVALID_FIELD"]);
      }
    });

    test("of a message that cannot be decoded", async () => {
      const broken = new Uint8Array([0x0a, 0xff]);
      const { json } = await post(path, "application/proto", broken);
      expect([codeOf(json), reasonOf(json)]).toEqual(["InvalidArgument", "INVALID_MESSAGE"]);
      const envelope = new Uint8Array([0, 0, 0, 0, 2, ...broken]);
      const web = await post(stream, "application/grpc-web+proto", envelope);
      const details = /grpc-status-details-bin: ([\w+/=-]+)/i.exec(web.text)?.[1] ?? "";
      expect(web.text).toMatch(/grpc-status: 3/);
      const status = fromBinary(StatusSchema, Buffer.from(details, "base64"));
      const info = status.details.find((detail) => anyIs(detail, ErrorInfoSchema));
      expect(info && anyUnpack(info, ErrorInfoSchema)?.reason).toBe("INVALID_MESSAGE");
      const connectStream = await post(stream, "application/connect+proto", envelope);
      expect(connectStream.text).toContain('"INVALID_MESSAGE"');
    });
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
