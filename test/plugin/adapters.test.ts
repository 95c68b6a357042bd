/** Tests the adapters with the real libraries, driven by a model that calls tools. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { generateText, jsonSchema, stepCountIs, type Tool, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RestPlugin, toAiSdkTools, toMcpTools, toOpenAiTools } from "../../plugin/index.ts";
import { startServers, type TestServers } from "./server.ts";

let servers: TestServers;
let api: RestPlugin;

beforeAll(async () => {
  servers = await startServers();
  api = new RestPlugin({ baseUrl: `http://127.0.0.1:${servers.mainPort}/v1`, apiKey: "key-1234" });
});
afterAll(async () => {
  await api.close();
  servers.close();
});

const names = ["http_get", "http_post", "http_put", "http_delete"];

test("OpenAI chat completions: runs the tool calls and returns the results to the model", async () => {
  const calls = [
    ["http_get", '{"endpoint":"/echo","params":{"a":1}}'],
    ["http_post", '{"endpoint":"/echo","data":{"b":2}}'],
    ["http_get", '{"endpoint":"/reply?status=404&type=text/plain&body=nothing"}'],
    ["http_get", "{broken"],
    ["http_patch", "{}"],
  ].map(([name, args], index) => ({
    id: `call_${index}`,
    type: "function",
    function: { name, arguments: args },
  }));
  const model = await fakeOpenAi((turn) => ({
    id: "x",
    object: "chat.completion",
    choices: [
      turn === 0
        ? {
            index: 0,
            finish_reason: "tool_calls",
            message: { role: "assistant", content: null, tool_calls: calls },
          }
        : { index: 0, finish_reason: "stop", message: { role: "assistant", content: "done" } },
    ],
  }));
  const openai = new OpenAI({ baseURL: model.url, apiKey: "model-key" });
  const tools = toOpenAiTools(api.tools);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "go" }];
  const first = await openai.chat.completions.create({ model: "m", messages, tools: tools.chat });
  const reply = first.choices[0]?.message;
  if (!reply) throw new Error("the model sent no message");
  messages.push(reply);
  for (const call of reply.tool_calls ?? []) {
    if (call.type === "function") messages.push(await tools.runChat(call));
  }
  const last = await openai.chat.completions.create({ model: "m", messages, tools: tools.chat });
  model.close();

  expect(last.choices[0]?.message.content).toBe("done");
  const [begin, end] = model.requests as [ChatRequest, ChatRequest];
  expect(begin.tools.map(({ type, function: { name } }) => [type, name])).toEqual(
    names.map((name) => ["function", name]),
  );
  expect(begin.tools[0]?.function.parameters).toEqual(api.tools[0]?.parameters);
  const results = end.messages.filter(({ role }) => role === "tool");
  expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(calls.map(({ id }) => id));
  expect(JSON.parse(results[0]?.content ?? "")).toMatchObject({ method: "GET", url: "/v1/echo?a=1" });
  expect(JSON.parse(results[1]?.content ?? "")).toMatchObject({ method: "POST", body: '{"b":2}' });
  expect(results[2]?.content).toMatch(/^Error: GET .* failed: HTTP 404\nnothing$/);
  expect(results[3]?.content).toMatch(/^Error: Cannot call http_get: the arguments must be JSON/);
  expect(results[4]?.content).toMatch(
    /^Error: Cannot call the tool "http_patch": the tools are http_get, http_post/,
  );
  expect(JSON.stringify(model.requests)).not.toContain("key-1234");
});

test("OpenAI responses: runs the tool calls", async () => {
  const model = await fakeOpenAi(() => ({
    id: "r",
    object: "response",
    status: "completed",
    output: [
      {
        id: "fc",
        type: "function_call",
        call_id: "call_1",
        name: "http_delete",
        arguments: '{"endpoint":"/echo","params":{"soft":true}}',
      },
    ],
  }));
  const openai = new OpenAI({ baseURL: model.url, apiKey: "model-key" });
  const tools = toOpenAiTools(api.tools);
  const { output } = await openai.responses.create({ model: "m", input: "go", tools: tools.responses });
  const call = output.find((item) => item.type === "function_call");
  if (!call) throw new Error("the model called no tool");
  const result = await tools.runResponses(call);
  await openai.responses.create({ model: "m", input: [result], tools: tools.responses });
  model.close();

  expect(result).toMatchObject({ type: "function_call_output", call_id: "call_1" });
  expect(JSON.parse(result.output)).toMatchObject({ method: "DELETE", url: "/v1/echo?soft=true" });
  const [begin] = model.requests as [{ tools: { name: string; strict: boolean }[] }];
  expect(begin.tools.map(({ name, strict }) => [name, strict])).toEqual(names.map((name) => [name, false]));
});

test("AI SDK: generateText runs the tools and returns results and failures to the model", async () => {
  const turns: unknown[] = [];
  const inputs = [
    { toolName: "http_put", input: '{"endpoint":"/echo","data":{"c":3}}' },
    { toolName: "http_get", input: '{"endpoint":"/reply?status=500"}' },
    { toolName: "http_get", input: '{"endpoint":"//evil.example"}' },
  ];
  const { text, steps } = await generateText({
    model: modelThatCalls(inputs, turns),
    tools: aiSdkTools(),
    prompt: "go",
    stopWhen: stepCountIs(3),
  });
  expect(text).toBe("done");
  const parts = steps[0]?.content ?? [];
  const result = parts.find((part) => part.type === "tool-result");
  expect(result?.output).toMatchObject({ method: "PUT", body: '{"c":3}' });
  const errors = parts.filter((part) => part.type === "tool-error").map(({ error }) => String(error));
  expect(errors).toEqual([
    expect.stringMatching(/HTTP 500 \(server error\)/),
    expect.stringMatching(/must not begin with \/\//),
  ]);
  expect(JSON.stringify(turns)).not.toContain("key-1234");
});

test("AI SDK: aborts the request with the signal of the call", async () => {
  const controller = new AbortController();
  const ended = generateText({
    model: modelThatCalls([{ toolName: "http_get", input: '{"endpoint":"/silent"}' }], []),
    tools: aiSdkTools(),
    prompt: "go",
    abortSignal: controller.signal,
  }).catch((error: unknown) => error);
  for (;;) {
    const log = (await (await fetch(servers.controlUrl)).json()) as { requests: { url: string }[] };
    if (log.requests.some(({ url }) => url === "/v1/silent")) break;
  }
  controller.abort();
  expect(await ended).toBeDefined();
});

test("MCP: lists tools, calls them and reports failures to a client", async () => {
  const server = new Server({ name: "rest", version: "1" }, { capabilities: { tools: {} } });
  const mcp = toMcpTools(api.tools);
  server.setRequestHandler(ListToolsRequestSchema, mcp.list);
  server.setRequestHandler(CallToolRequestSchema, mcp.call);
  const client = new Client({ name: "agent", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);

  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(names);
  expect(tools[1]?.inputSchema).toEqual(api.tools[1]?.parameters);
  const good = await client.callTool({ name: "http_post", arguments: { endpoint: "/echo", data: { d: 4 } } });
  expect(JSON.parse(textOf(good))).toMatchObject({ method: "POST", body: '{"d":4}' });
  expect(good.isError).toBeUndefined();
  const failures: [string, Record<string, unknown> | undefined, RegExp][] = [
    ["http_get", { endpoint: "/reply?status=401" }, /HTTP 401 \(authentication failed\)/],
    ["http_get", { endpoint: "../x" }, /must not contain a \.\. segment/],
    ["http_get", undefined, /endpoint must be a string/],
    ["http_head", { endpoint: "/echo" }, /the tools are http_get/],
  ];
  for (const [name, args, message] of failures) {
    const result = await client.callTool({ name, ...(args && { arguments: args }) });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(message);
  }
  await client.close();
});

interface ChatRequest {
  tools: { type: string; function: { name: string; parameters: unknown } }[];
  messages: { role: string; content: string; tool_call_id?: string }[];
}

function textOf(result: { [key: string]: unknown }): string {
  return (result.content as { text: string }[])[0]?.text ?? "";
}

/** Starts a server that responds like the model's API, turn by turn. */
async function fakeOpenAi(
  respond: (turn: number) => unknown,
): Promise<{ url: string; requests: unknown[]; close(): void }> {
  const requests: unknown[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const turn = requests.push(JSON.parse(body)) - 1;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(respond(turn)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { url, requests, close: () => void server.close() };
}

function aiSdkTools(): Record<string, Tool> {
  return toAiSdkTools(api.tools, ({ parameters, ...rest }) =>
    tool({ ...rest, inputSchema: jsonSchema(parameters) }),
  );
}

/** A mock model of the SDK that calls tools in its first turn and finishes in its second. */
function modelThatCalls(
  inputs: { toolName: string; input: string }[],
  turns: unknown[],
): MockLanguageModelV4 {
  const usage: TurnResult["usage"] = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const calls = inputs.map((input, index) => ({
    type: "tool-call" as const,
    toolCallId: `c${index}`,
    ...input,
  }));
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      turns.push(prompt);
      return turns.length === 1
        ? { content: calls, finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] }
        : {
            content: [{ type: "text", text: "done" }],
            finishReason: { unified: "stop", raw: undefined },
            usage,
            warnings: [],
          };
    },
  });
}

type TurnResult = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
