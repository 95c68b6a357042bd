/** Streams end when their API key does. */
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { ExecutionService } from "../../../proto/svc/v1/execution_pb.ts";
import { deploy } from "../../support/project.ts";
import { call, lines, ok, open, run } from "../../support/rest.ts";
import { onRuntime } from "../../support/suite.ts";

interface KeyJson {
  token: string;
  key: { key_id: string };
}

const transports: Record<string, (baseUrl: string) => Transport> = {
  Connect: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  gRPC: (baseUrl) => createGrpcTransport({ baseUrl }),
  "gRPC-Web": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
};

onRuntime("deno", "streams of a key", {}, (server) => {
  const createKey = (more: object = {}) =>
    ok<KeyJson>(server, "POST", "/api/v1/keys", { json: { name: "follower", scope: "read", ...more } });

  test.each(Object.keys(transports))("end over %s within a second after it is revoked", async (name) => {
    await deploy(server, { agents: { waits: "export default () => new Promise(() => {});" } });
    const { execution_id } = await run(server, "waits");
    const { token, key } = await createKey();
    const executions = createClient(
      ExecutionService,
      transports[name]?.(server.url) ?? createGrpcTransport({ baseUrl: server.url }),
    );
    const headers = { authorization: `Bearer ${token}` };
    const watching = executions
      .watchExecution({ executionId: execution_id }, { headers })
      [Symbol.asyncIterator]();
    expect((await watching.next()).done).toBe(false);
    const failed = Promise.all([
      endOf(watching),
      endOf(executions.tailLogs({ follow: true, lines: 0 }, { headers })[Symbol.asyncIterator]()),
    ]);
    await ok(server, "DELETE", `/api/v1/keys/${key.key_id}`);
    for (const error of await failed) expect(error.code).toBe(Code.Unauthenticated);
    await call(server, "POST", `/api/v1/executions/${execution_id}/cancel`, { json: {} });
  });

  test("end over REST with a line that names the error, when the key expires", async () => {
    const expires = new Date(Date.now() + 1_500).toISOString();
    const { token } = await createKey({ expires_at: expires });
    const caller = { url: server.url, apiKey: token };
    const response = await open(caller, "GET", "/api/v1/logs?follow=true&lines=0");
    expect(response.status).toBe(200);
    const received: unknown[] = [];
    await expect(
      (async () => {
        for await (const line of lines(response)) received.push(line);
      })(),
    ).rejects.toThrow();
    expect(received.at(-1)).toEqual({
      error: {
        code: "unauthenticated",
        message: expect.stringContaining("expired"),
        details: [expect.objectContaining({ type: "google.rpc.ErrorInfo" })],
      },
    });
  });
});

async function endOf(stream: AsyncIterator<unknown>): Promise<ConnectError> {
  try {
    while ((await stream.next()).done !== true);
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("The stream ended without an error.");
}
