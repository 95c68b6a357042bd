/**
 * The configurations of docs/proxies.md with nginx and Caddy, where they are installed, and the same requests through a
 * small proxy in Node, which runs everywhere. Requests come from 127.0.0.2.
 */
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ExecutionService } from "../../proto/svc/v1/execution_pb.ts";
import { HealthService } from "../../proto/svc/v1/health_pb.ts";
import { createCertificates } from "../plugin/certificate.ts";
import { deploy } from "../support/project.ts";
import { ok } from "../support/rest.ts";
import type { AcceptedJson, HealthJson } from "../support/shapes.ts";
import { useServer } from "../support/suite.ts";
import { installed, type RunningProxy, startCaddy, startNginx, startNodeProxy } from "./programs.ts";

const { authority: ca, certificate, key } = createCertificates(["localhost"]);
const server = useServer("node", { env: { SVC_TRUSTED_PROXIES: "127.0.0.1" } });
let org = "";
beforeAll(async () => {
  const code =
    "export default async (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject));";
  await deploy(server, { agents: { waits: { code, webhooks: [{ slug: "hook" }] } } });
  org = (await ok<HealthJson>(server, "GET", "/health")).organization;
});

const programs = [
  { name: "a proxy in Node", start: startNodeProxy, isThere: true, hasHttp2: false },
  { name: "nginx", start: startNginx, isThere: installed.includes("nginx"), hasHttp2: true },
  { name: "Caddy", start: startCaddy, isThere: installed.includes("caddy"), hasHttp2: true },
];

for (const { name, start, isThere, hasHttp2 } of programs) {
  describe.skipIf(!isThere)(`through ${name}`, () => {
    let proxy: RunningProxy;
    beforeAll(async () => {
      proxy = await start({ port: Number(new URL(server.url).port), certificate, key });
    });
    afterAll(() => proxy.close());

    const send = async (method: string, path: string, headers = {}, body = ""): Promise<IncomingMessage> => {
      const all = { authorization: `Bearer ${server.apiKey}`, "content-length": body.length, ...headers };
      const options = {
        method,
        headers: all,
        ca,
        localAddress: "127.0.0.2",
        family: 4,
        agent: false,
      } as const;
      const url = proxy.url + path;
      const request = url.startsWith("https") ? httpsRequest(url, options) : httpRequest(url, options);
      request.end(body);
      const [response] = (await once(request, "response")) as [IncomingMessage];
      return response;
    };
    const read = async (response: IncomingMessage) => (await response.setEncoding("utf8").toArray()).join("");
    const authorize: Interceptor = (next) => (request) => {
      request.header.set("authorization", `Bearer ${server.apiKey}`);
      return next(request);
    };
    const transport = () => ({
      baseUrl: proxy.url,
      interceptors: [authorize],
      nodeOptions: { ca } as object,
    });
    const startExecution = async () =>
      (await ok<AcceptedJson>(server, "POST", "/api/v1/executions", { json: { name: "waits" } }))
        .execution_id;
    const cancel = (id: string) => ok(server, "POST", `/api/v1/executions/${id}/cancel`, { json: {} });

    test("the server sees the sender, whatever headers it sends", async () => {
      for (const headers of [{}, { "x-forwarded-for": "1.1.1.1", forwarded: "for=1.1.1.1" }]) {
        const health = JSON.parse(await read(await send("GET", "/health", headers)));
        expect(health).toMatchObject({ client_address: "127.0.0.2", proxy_ignored: false });
      }
    });

    // A proxy of a few lines of Node ends when the service closes the connection, before it reads the response.
    test.skipIf(start === startNodeProxy)(
      "a body over the limit of the server gets the answer of the server",
      async () => {
        const body = JSON.stringify({ text: "x".repeat(1_200_000) });
        const response = await send(
          "POST",
          `/webhook/${org}/agent/waits/hook`,
          { "content-type": "application/json" },
          body,
        );
        expect([response.statusCode, JSON.parse(await read(response)).code]).toEqual([
          413,
          "resource_exhausted",
        ]);
      },
    );

    test("a stream arrives while it is open", async () => {
      const id = await startExecution();
      const response = await send("GET", `/api/v1/executions/${id}/watch`);
      const [first] = (await once(response.setEncoding("utf8"), "data")) as [string];
      expect(first).toContain(id);
      await cancel(id);
      expect(await read(response)).toContain("cancelled");
    });

    test.runIf(hasHttp2)("gRPC, gRPC-Web and Connect work, with streams and errors", async () => {
      const transports = [
        createGrpcTransport(transport()),
        createGrpcWebTransport({ ...transport(), httpVersion: "2" }),
        createConnectTransport({ ...transport(), httpVersion: "2" }),
        createConnectTransport({ ...transport(), httpVersion: "1.1" }),
      ];
      for (const each of transports) {
        expect((await createClient(HealthService, each).check({})).status).toBe("ok");
        const executions = createClient(ExecutionService, each);
        const missing = await executions
          .getExecution({ executionId: "exe_00000000000000000000000000" })
          .catch(ConnectError.from);
        expect(missing).toMatchObject({ code: Code.NotFound });
        const id = await startExecution();
        const states = [];
        for await (const { event } of executions.watchExecution({ executionId: id })) {
          if (states.length === 0) await cancel(id);
          if (event.case === "execution") states.push(event.value.status);
        }
        expect(states.at(-1)).toBe("cancelled");
      }
    });
  });
}
