/** Tests a deployed agent that calls an API through the plugin with a secret as API key. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { ok, runToEnd } from "../support/rest.ts";
import { onRuntime } from "../support/suite.ts";

const key = "planted-key-of-the-outside-api";
let api: Server;
let baseUrl = "";

beforeAll(async () => {
  api = createServer((request, response) => {
    const known = request.headers.authorization === `Bearer ${key}`;
    response.writeHead(known ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify({ path: request.url, known }));
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
});

afterAll(() => new Promise((resolve) => api.close(resolve)));

const code = `import { defineAgent } from "svc";
import { RestPlugin } from "svc/plugin";

export default defineAgent(async (input, ctx) => {
  await using api = new RestPlugin({ baseUrl: input.baseUrl, apiKey: input.anonymous ? undefined : ctx.secrets.API_KEY });
  const direct = await api.get("items/7", { params: { full: true } });
  const [get] = api.tools;
  return { direct, tool: await get.execute({ endpoint: "items/8" }) };
});`;

onRuntime("deno", "the plugin in an agent", {}, (server) => {
  test("uses a secret as API key without revealing it in the output", async () => {
    await ok(server, "PUT", "/api/v1/secrets/API_KEY", { json: { value: key } });
    await deploy(server, { agents: { caller: code } });
    const { status, output, error } = await runToEnd(server, "caller", { baseUrl });
    expect(status, error?.message).toBe("succeeded");
    expect(JSON.stringify(output)).toContain('"path":"/items/7?full=true"');
    expect(JSON.stringify(output)).toContain("/items/8");
    expect(JSON.stringify(output)).not.toContain(key);
  });

  test("fails the execution with the status of the API", async () => {
    const { status, error } = await runToEnd(server, "caller", { baseUrl, anonymous: true });
    expect(status).toBe("failed");
    expect(error).toMatchObject({ name: "RestError", message: expect.stringContaining("HTTP 401") });
  });
});
