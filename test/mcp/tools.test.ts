/** Scopes, the tools of the service, and the rules of the transport. */
import { beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { call, expectError, ok } from "../support/rest.ts";
import { onRuntime } from "../support/suite.ts";
import { connect, overHttp, overStdio, source, textOf } from "./project.ts";

/** An agent whose schema is written by hand. */
const typed = `const json = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object", properties: { n: { type: "number" } }, required: ["n"],
};
const validate = (value) =>
  typeof value?.n === "number" ? { value } : { issues: [{ message: "must be a number", path: ["n"] }] };
const schema = {
  "~standard": { version: 1, vendor: "own", validate, jsonSchema: { input: () => json, output: () => json } },
};
export default { input: schema, output: schema, run: (input) => input };`;

onRuntime(
  "node",
  "the tools of the service",
  { env: { SVC_CORS_ORIGINS: "https://app.example" } },
  (server) => {
    beforeAll(async () => {
      await deploy(server, source);
    });

    const post = (json: unknown, headers: Record<string, string> = {}, path = "/mcp") =>
      call<{ result?: unknown; error?: { code: number; message: string } }>(server, "POST", path, {
        json,
        headers,
      });
    const request = (method: string, params: unknown = {}) => ({ jsonrpc: "2.0", id: 1, method, params });

    async function keyWith(scope: string): Promise<{ url: string; apiKey: string }> {
      const json = { name: scope, scope };
      const { token } = await ok<{ token: string }>(server, "POST", "/api/v1/keys", { json });
      return { url: server.url, apiKey: token };
    }

    test("a key sees and calls only the tools of its scope", async () => {
      const client = await connect(overHttp(await keyWith("read")));
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name).toSorted()).toEqual([
        ...["svc_list_deliveries", "svc_list_executions", "svc_list_targets", "svc_plan_push"],
        ...["svc_read_logs", "svc_show_delivery", "svc_show_execution"],
      ]);
      for (const name of ["weather", "svc_run", "svc_replay_execution", "svc_cancel_execution"]) {
        const args = name === "svc_run" ? { name: "weather" } : { execution_id: `exe_${"0".repeat(26)}` };
        const result = await client.callTool({ name, arguments: args });
        expect(textOf(result)).toBe("Permission denied: this key needs scope trigger.");
        expect(result.isError).toBe(true);
      }
      const trigger = await connect(overHttp(await keyWith("trigger")));
      expect((await trigger.listTools()).tools.map(({ name }) => name)).toContain("weather");
    });

    test("a target with schemas has them as a tool, and its result is structured", async () => {
      const agents = { typed: { code: typed, expose_as_tool: true } };
      await deploy(server, { name: "typed", agents }, { environment: "typed" });
      const client = await connect(overHttp(server, "/env/typed/mcp"));
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === "typed")).toMatchObject({
        inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
        outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      });
      const result = await client.callTool({ name: "typed", arguments: { n: 1 } });
      expect(result.structuredContent).toEqual({ n: 1 });
      const wrong = await client.callTool({ name: "typed", arguments: {} });
      expect(wrong.isError).toBe(true);
      expect(textOf(wrong)).toBe("The input violates the schema of 'typed':\ninput.n: must be a number");
    });

    test("run, show, replay, log, cancel and list targets", async () => {
      const client = await connect(overHttp(server));
      const tool = async (name: string, args: Record<string, unknown> = {}) =>
        JSON.parse(textOf(await client.callTool({ name, arguments: args })));
      expect(await tool("svc_run", { name: "internal" })).toBe("internal");
      const [{ execution_id: id }] = (await tool("svc_list_executions", { page_size: 1 })).executions;
      expect(await tool("svc_show_execution", { execution_id: id })).toMatchObject({ output: "internal" });
      expect(await tool("svc_replay_execution", { execution_id: id })).toBe("internal");
      expect(await tool("svc_cancel_execution", { execution_id: id })).toMatchObject({ status: "succeeded" });
      await tool("svc_run", { name: "weather", input: { city: "Oslo" } });
      const lines = await tool("svc_read_logs", { name: "weather", lines: 50 });
      expect(lines.map(({ message }: { message: string }) => message)).toContain("looking up Oslo");
      expect(await tool("svc_list_targets")).toMatchObject([
        { kind: "agent", name: "weather", expose_as_tool: true },
        { kind: "agent", name: "internal", expose_as_tool: false },
        { kind: "agent", name: "patient", expose_as_tool: true },
        { kind: "workflow", name: "report", expose_as_tool: true },
      ]);
      expect(await tool("svc_list_deliveries")).toMatchObject({ deliveries: [] });
    });

    test("plan a push from a project file", async () => {
      const client = await connect(overHttp(server));
      const plan = async (text: string) =>
        textOf(await client.callTool({ name: "svc_plan_push", arguments: { project_file: text } }));
      const file = `name: test-project\nversion: "2"\nagents:\n  - { name: weather, timeout: 5, description: New, expose_as_tool: true }\n  - { name: other }\n`;
      const { plan: changes, active_deployment_id: active } = JSON.parse(await plan(file));
      expect(active).toMatch(/^dep_/);
      expect(changes).toEqual({
        agents: [
          expect.objectContaining({ change: "changed", key: "weather" }),
          { change: "added", key: "other", details: [] },
          { change: "removed", key: "internal", details: [] },
          { change: "removed", key: "patient", details: [] },
        ],
        workflows: [{ change: "removed", key: "report", details: [] }],
        webhooks: [],
        schedules: [],
      });
      expect(await plan("name: a\nversion: 1\nagnts: []\n")).toMatch(/svc-project.yaml:3:1: .*did you mean/);
    });

    test("errors of parameters name the field and the rule", async () => {
      const client = await connect(overHttp(server));
      const fails = async (name: string, args: Record<string, unknown>) => {
        const result = await client.callTool({ name, arguments: args });
        expect(result.isError).toBe(true);
        return textOf(result);
      };
      expect(await fails("svc_run", { name: "missing" })).toMatch(/There is no agent or workflow 'missing'/);
      expect(await fails("svc_run", { nam: "weather" })).toMatch(/nam/);
      expect(await fails("svc_list_executions", { status: "done" })).toMatch(/status.*queued/);
      expect(await fails("svc_show_execution", { execution_id: 7 })).toMatch(
        /execution_id: it must be a string/,
      );
      expect(await fails("svc_plan_push", { project_file: 1 })).toMatch(/must be text/);
      await expect(client.callTool({ name: "missing" })).rejects.toThrow(/There is no tool missing/);
    });

    test("an environment has tools of its own, and the tools of the service can be left out", async () => {
      const staging = await connect(overHttp(server, "/env/staging/mcp?tools=targets"));
      expect((await staging.listTools()).tools).toEqual([]);
      const targets = await connect(overHttp(server, "/mcp?tools=targets"));
      expect((await targets.listTools()).tools.map(({ name }) => name)).toEqual([
        "weather",
        "patient",
        "report",
      ]);
      await expect(targets.callTool({ name: "svc_run", arguments: { name: "internal" } })).rejects.toThrow(
        /There is no tool svc_run/,
      );
      const stdio = await connect(overStdio("node", server, ["--tools", "targets", "-e", "staging"]));
      expect((await stdio.listTools()).tools).toEqual([]);
    });

    describe("over HTTP", () => {
      test("requests need a key, a known version and an allowed origin", async () => {
        const ping = request("ping");
        const noKey = await call(server, "POST", "/mcp", { json: ping, key: null });
        expectError(noKey, 401, "unauthenticated", /no API key/, "API_KEY_MISSING");
        expect(noKey.headers.get("www-authenticate")).toBe("Bearer");
        const version = await post(ping, { "mcp-protocol-version": "1999-01-01" });
        expectError(version, 400, "invalid_argument", /1999-01-01/);
        const origin = await post(ping, { origin: "https://evil.example" });
        expectError(origin, 403, "permission_denied", /evil\.example/, "ORIGIN_NOT_ALLOWED");
        expect((await post(ping, { origin: "https://app.example" })).json).toEqual({
          jsonrpc: "2.0",
          id: 1,
          result: {},
        });
        expectError(await post(ping, {}, "/mcp?tools=some"), 400, "invalid_argument", /all or targets/);
      });

      test("only POST has a meaning", async () => {
        for (const method of ["GET", "DELETE"]) {
          const answer = await call(server, method, "/mcp");
          expectError(answer, 405, "unimplemented", /use POST/);
          expect(answer.headers.get("allow")).toBe("POST");
        }
      });

      test("messages that are not requests get the errors of JSON-RPC", async () => {
        const code = async (json: unknown) => (await post(json)).json.error?.code;
        expect(await code({ id: 1, method: "ping" })).toBe(-32600);
        expect(await code({ jsonrpc: "2.0", id: {}, method: "ping" })).toBe(-32600);
        expect(await code(request("nothing/list"))).toBe(-32601);
        expect(await code(request("tools/call", { name: 1 }))).toBe(-32602);
        expect(await code(request("tools/call", []))).toBe(-32602);
        expect(await code([])).toBe(-32600);
        expect(await code(Array.from({ length: 21 }, () => request("ping")))).toBe(-32600);
        const text = await call<{ error: { code: number } }>(server, "POST", "/mcp", { body: "{" });
        expect(text).toMatchObject({ status: 400, json: { error: { code: -32700 } } });
        expectError(
          await call(server, "POST", "/mcp", { body: "a", headers: { "content-type": "text/plain" } }),
          415,
          "invalid_argument",
          /JSON/,
        );
      });

      test("notifications get 202, and a batch gets the answers to its requests", async () => {
        const notification = { jsonrpc: "2.0", method: "notifications/initialized" };
        expect(await post(notification)).toMatchObject({ status: 202, text: "" });
        const batch = await post([notification, request("ping"), { ...request("ping"), id: "b" }]);
        expect(batch.json).toEqual([
          { jsonrpc: "2.0", id: 1, result: {} },
          { jsonrpc: "2.0", id: "b", result: {} },
        ]);
      });
    });

    test("svc mcp reports a refused key to the client", async () => {
      const wrong = { url: server.url, apiKey: "svc_wrong_0123456789abcdef" };
      await expect(connect(overStdio("node", wrong))).rejects.toThrow(/Authentication failed/);
    });
  },
);
