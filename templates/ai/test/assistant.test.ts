import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { test } from "node:test";
import { complete } from "../agents/assistant/chat.ts";
import { tools } from "../agents/assistant/tools.ts";

/** A local endpoint that replies with the given messages, and the requests that it got. */
async function startModel(replies: object[]) {
  const requests: { messages: { role: string; content: string }[] }[] = [];
  const server = createServer(async (request, response) => {
    requests.push((await json(request)) as (typeof requests)[number]);
    response.end(JSON.stringify({ choices: [{ message: replies[requests.length - 1] }] }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const options = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: "key",
    model: "m",
    instructions: "",
    tools,
  };
  return { requests, options, close: () => server.close() };
}

test("gives the model the result of the tool that it calls", async () => {
  const call = {
    id: "call_1",
    type: "function",
    function: { name: "order_status", arguments: '{"id":"1001"}' },
  };
  const model = await startModel([
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "assistant", content: "It was shipped on Monday." },
  ]);
  try {
    const { answer, calls } = await complete("Where is order 1001?", model.options);
    assert.equal(answer, "It was shipped on Monday.");
    assert.deepEqual(calls, ["order_status"]);
    const result = model.requests[1]?.messages.at(-1);
    assert.deepEqual([result?.role, result?.content], ["tool", '{"status":"shipped on Monday"}']);
  } finally {
    model.close();
  }
});
