/** The server ends calls at their deadline; these clients have none of their own. */
import { connect as connectHttp2 } from "node:http2";
import { beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../../support/project.ts";
import { call, ok, open, run } from "../../support/rest.ts";
import type { ErrorJson, ExecutionJson, HealthJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

const agents = {
  waits: { code: "export default () => new Promise(() => {});", webhooks: [{ slug: "hook" }] },
};
const execution = "/svc.v1.ExecutionService";

onRuntime("bun", "deadlines", {}, (server) => {
  let execution_id = "";
  let orgId = "";
  beforeAll(async () => {
    await deploy(server, { agents });
    ({ execution_id } = await run(server, "waits"));
    orgId = (await ok<HealthJson>(server, "GET", "/health")).organization;
    await ok<ExecutionJson>(server, "GET", `/api/v1/executions/${execution_id}`);
  });

  const streams = () =>
    [
      [`${execution}/TailLogs`, { follow: true, lines: 0 }],
      [`${execution}/WatchExecution`, { execution_id }],
    ] as const;

  test("end a Connect stream with deadline_exceeded", async () => {
    for (const [path, message] of streams()) {
      const headers = { "content-type": "application/connect+json", "connect-timeout-ms": "200" };
      const answer = await call(server, "POST", path, {
        headers,
        body: envelope(Buffer.from(JSON.stringify(message))),
      });
      expect(answer.text).toMatch(/"error":\{"code":"deadline_exceeded"/);
    }
  });

  test("end a gRPC and a gRPC-Web stream with the status 4", async () => {
    for (const [path, message] of streams()) {
      const body = envelope(Buffer.from(JSON.stringify(message)));
      expect(await grpcStatus(path, body, { "grpc-timeout": "200m" })).toBe("4");
      const headers = { "content-type": "application/grpc-web+json", "grpc-timeout": "200000u" };
      const answer = await call(server, "POST", path, { headers, body });
      expect(answer.text).toMatch(/grpc-status: 4\r\n/);
    }
  });

  test("end a REST stream with a line that names the error", async () => {
    const headers = { "connect-timeout-ms": "300" };
    const response = await open(server, "GET", "/api/v1/logs?follow=true&lines=0", { headers });
    const received: string[] = [];
    const read = async () => {
      for await (const chunk of response.body ?? [])
        received.push(Buffer.from(chunk as Uint8Array).toString());
    };
    await expect(read()).rejects.toThrow();
    expect(received.join("")).toMatch(/"error":\{"code":"deadline_exceeded"/);
  });

  describe("of a unary call", () => {
    const trigger = () => ({ org_id: orgId, agent_name: "waits", slug: "hook", payload: {} });
    const path = "/svc.v1.WebhookService/TriggerWebhook";
    const waiting = { prefer: "wait=20" };

    test("end it while it waits, over Connect and gRPC", async () => {
      const headers = { ...waiting, "connect-timeout-ms": "200" };
      const answer = await call<ErrorJson>(server, "POST", path, { json: trigger(), headers });
      expect([answer.status, answer.json.code]).toEqual([504, "deadline_exceeded"]);
      const body = envelope(Buffer.from(JSON.stringify(trigger())));
      expect(await grpcStatus(path, body, { ...waiting, "grpc-timeout": "200m" })).toBe("4");
    });

    test("reject it when they have passed, before it has an effect", async () => {
      const before = await total();
      for (const [target, json, name] of [
        [`${execution}/RunExecution`, { name: "waits" }, "connect-timeout-ms"],
        ["/api/v1/executions", { name: "waits" }, "connect-timeout-ms"],
      ] as const) {
        const answer = await call<ErrorJson>(server, "POST", target, { json, headers: { [name]: "0" } });
        expect([answer.status, answer.json.code], target).toEqual([504, "deadline_exceeded"]);
      }
      expect(await total()).toBe(before);
    });

    test("reject a malformed one with invalid_argument", async () => {
      for (const target of [`${execution}/RunExecution`, "/api/v1/executions"]) {
        const headers = { "connect-timeout-ms": "soon" };
        const answer = await call<ErrorJson>(server, "POST", target, { json: { name: "waits" }, headers });
        expect([answer.status, answer.json.code], target).toEqual([400, "invalid_argument"]);
      }
    });

    async function total(): Promise<number> {
      const list = await ok<{ executions: unknown[] }>(server, "GET", "/api/v1/executions?page_size=1000");
      return list.executions.length;
    }
  });

  function grpcStatus(path: string, body: Buffer, headers: Record<string, string>): Promise<unknown> {
    const session = connectHttp2(server.url);
    return new Promise<unknown>((resolve, reject) => {
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc+json",
        authorization: `Bearer ${server.apiKey}`,
        ...headers,
      });
      const look = (fields: Record<string, unknown>) => {
        if (fields["grpc-status"] !== undefined) resolve(fields["grpc-status"]);
      };
      stream.once("response", look).once("trailers", look).once("error", reject);
      stream.once("close", () => reject(new Error("The stream has no status.")));
      stream.resume();
      stream.end(body);
    }).finally(() => session.close());
  }
});

function envelope(message: Buffer): Buffer<ArrayBuffer> {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.byteLength, 1);
  return Buffer.concat([prefix, message]);
}
