/** The log of the server as JSON, the access log and the ids of requests. */

import { ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { describe, expect, test, vi } from "vitest";
import { ExecutionService } from "../../../proto/svc/v1/execution_pb.ts";
import { toJson } from "../../../server/telemetry/log/index.ts";
import { deploy } from "../../support/project.ts";
import { call } from "../../support/rest.ts";
import type { TestServer } from "../../support/server.ts";
import type { AcceptedJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

interface Entry {
  time: string;
  level: string;
  message: string;
  request_id?: string;
  execution_id?: string;
  status?: number;
  duration_ms?: number;
  path?: string;
}

const env = { SVC_LOG: "json", SVC_ACCESS_LOG: "1" };

/** All lines but those that print the first API key. */
function entries(server: TestServer): Entry[] {
  const lines = server.output.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}"));
  return lines.map((line) => JSON.parse(line) as Entry);
}

const logged = (server: TestServer, id: string) =>
  vi.waitFor(() => {
    const found = entries(server).find(({ request_id }) => request_id === id);
    if (found === undefined) throw new Error(`There is no entry of ${id}.`);
    return found;
  }, 30_000);

onRuntime("deno", "the log", { env }, (server) => {
  test("has a JSON object on each line, except for the first API key", () => {
    const others = server.output
      .split("\n")
      .filter(
        (line) => line.trim() !== "" && !/^\{.*\}$/.test(line) && !/API key|export SVC_API_KEY/.test(line),
      );
    expect(others).toEqual([]);
    const found = entries(server);
    expect(found.at(0)).toMatchObject({ level: "info", message: expect.stringMatching(/^svc \d/) });
    for (const { time } of found) expect(new Date(time).toISOString()).toBe(time);
  });

  test("names a webhook request and its execution, and hides the organization", async () => {
    const { webhooks } = await deploy(server, {
      agents: { hook: { code: "export default () => null;", webhooks: [{ slug: "in" }] } },
    });
    const url = webhooks[0]?.url ?? "";
    const answer = await call<AcceptedJson>(server, "POST", `${url}?token=hidden`, {
      json: {},
      headers: { "x-request-id": "from-the-proxy:1" },
      key: null,
    });
    expect(await logged(server, "from-the-proxy:1")).toMatchObject({
      status: 202,
      execution_id: answer.json.execution_id,
      path: expect.stringMatching(/^\/webhook\/org_[0-9a-z]{6}…\/agent\/hook\/in$/),
      duration_ms: expect.any(Number),
    });
    const [, organization = ""] = /\/(org_\w+)\//.exec(url) ?? [];
    expect(organization).toHaveLength(30);
    expect(server.output).not.toContain(organization);
    expect(server.output).not.toContain("token=hidden");
    expect(
      entries(server)
        .map((entry) => JSON.stringify(entry))
        .join(),
    ).not.toContain(server.apiKey);
  });

  test("answers errors with the id of the request, on every protocol", async () => {
    const rest = await call(server, "GET", "/api/v1/executions/none", {
      headers: { "x-request-id": "rest-1" },
    });
    expect([rest.status, rest.headers.get("x-request-id")]).toEqual([404, "rest-1"]);
    expect(await logged(server, "rest-1")).toMatchObject({ status: 404, path: "/api/v1/executions/none" });
    const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const hook = await call(server, "POST", "/webhook/org_none/agent/a/b", {
      headers: { traceparent: trace },
    });
    expect(hook.headers.get("x-request-id")).toBe("0af7651916cd43dd8448eb211c80319c");
    const unknown = await call(server, "GET", "/nothing", { headers: { "x-request-id": "not well formed" } });
    const made = unknown.headers.get("x-request-id") ?? "";
    expect(made).toMatch(/^req_[0-9a-z]{26}$/);
    expect(await logged(server, made)).toMatchObject({ status: 404, path: "/nothing" });
    const transport = createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" });
    const client = createClient(ExecutionService, transport);
    const headers = { authorization: `Bearer ${server.apiKey}` };
    const failed = await client.getExecution({ executionId: "none" }, { headers }).catch(ConnectError.from);
    const id = failed instanceof ConnectError ? (failed.metadata.get("x-request-id") ?? "") : "";
    expect(await logged(server, id)).toMatchObject({ status: 404 });
    const unauthorized = await client.getExecution({ executionId: "none" }).catch(ConnectError.from);
    expect(unauthorized).toMatchObject({ metadata: expect.any(Headers) });
    expect((unauthorized as ConnectError).metadata.get("x-request-id")).toMatch(/^req_/);
  });
});

describe("an entry", () => {
  const at = new Date(0);

  test("contains no key, password, signature or whole organization id", () => {
    const organization = `org_${"0a1b2c".padEnd(26, "z")}`;
    const text = toJson(
      "error",
      `GET https://user:secret@host/x?signature=5ec4e7&a=1 of ${organization}`,
      {
        error: new Error("key svc_abc_0123456789abcdef0123", { cause: new Error("X-Amz-Signature") }),
        path: `/webhook/${organization}/agent/a/b`,
      },
      at,
    );
    const hidden = ["secret@", "5ec4e7", "0123456789abcdef", organization];
    expect(hidden.filter((word) => text.includes(word))).toEqual([]);
    expect(JSON.parse(text)).toMatchObject({
      time: "1970-01-01T00:00:00.000Z",
      message: "GET https://user:…@host/x?signature=…&a=1 of org_0a1b2c…",
      path: "/webhook/org_0a1b2c…/agent/a/b",
      error: { name: "Error", message: "key svc_abc_…", stack: expect.stringContaining("svc_abc_…") },
    });
  });

  test("keeps its own properties", () => {
    expect(
      JSON.parse(toJson("info", "text", { level: "x", message: "y", time: "z", a: undefined }, at)),
    ).toEqual({
      time: at.toISOString(),
      level: "info",
      message: "text",
    });
  });
});
