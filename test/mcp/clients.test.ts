/** The official SDK's client, over Streamable HTTP and over `svc mcp`. */
import { beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { ok } from "../support/rest.ts";
import type { ExecutionJson } from "../support/shapes.ts";
import { onRuntime } from "../support/suite.ts";
import { connect, overHttp, overStdio, source, textOf } from "./project.ts";

onRuntime("bun", "tools for models", {}, (server) => {
  beforeAll(async () => {
    await ok(server, "PUT", "/api/v1/secrets/TOKEN", { json: { value: "hunter2-hunter2" } });
    await deploy(server, source);
  });

  describe.each([
    ["Streamable HTTP", () => overHttp(server)],
    ["stdio", () => overStdio(server.runtime, server)],
  ])("over %s", (_name, open) => {
    test("lists and calls agents, workflows and the tools of the service", async () => {
      const client = await connect(open());
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name).filter((name) => !name.startsWith("svc_"))).toEqual([
        "weather",
        "patient",
        "report",
      ]);
      expect(tools.find(({ name }) => name === "weather")).toMatchObject({
        title: "Weather",
        description: "Returns the temperature of a city.",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: false },
      });
      const weather = await client.callTool({ name: "weather", arguments: { city: "Berlin" } });
      // Outputs hold no secrets.
      expect(JSON.parse(textOf(weather))).toEqual({ city: "Berlin", degrees: 21, token: "***" });
      expect(textOf(await client.callTool({ name: "report" }))).toBe("[1,2]");
      const listed = await client.callTool({ name: "svc_list_executions", arguments: { name: "weather" } });
      const { executions } = JSON.parse(textOf(listed));
      expect(executions[0]).toMatchObject({ status: "succeeded", name: "weather", trigger: "run" });
      expect(await client.ping()).toEqual({});
    });

    test("sends log entries as progress, and ends when the execution is cancelled", async () => {
      const client = await connect(open());
      const messages: string[] = [];
      const result = await client.callTool({ name: "patient" }, undefined, {
        async onprogress({ message = "" }) {
          messages.push(message);
          if (message !== "waiting") return;
          const { executions } = await ok<{ executions: ExecutionJson[] }>(
            ...([server, "GET", "/api/v1/executions?name=patient&status=running"] as const),
          );
          await ok(server, "POST", `/api/v1/executions/${executions[0]?.execution_id}/cancel`, { json: {} });
        },
      });
      expect(messages).toContain("waiting");
      expect(textOf(result)).toMatch(/^The execution exe_\w{26} was cancelled/);
      expect(result.isError).toBe(true);
    });

    test("returns the failure of an execution as a result", async () => {
      const client = await connect(open());
      const result = await client.callTool({ name: "weather", arguments: {} });
      expect(result.isError).toBe(true);
      expect(textOf(result)).toMatch(/^The execution exe_\w{26} failed: TypeError: city is missing$/);
    });
  });
});
