import { FinalError } from "svc";
import type { Tool } from "./tools.ts";

export interface Options {
  /** Of an endpoint with the chat completions API of OpenAI. */
  baseUrl: string;
  apiKey: string;
  model: string;
  instructions: string;
  tools: Readonly<Record<string, Tool>>;
  signal?: AbortSignal;
  log?: (text: string) => void;
}

interface ToolCall {
  id: string;
  function: { name: string; arguments: string };
}

interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string | null;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
}

/** The most calls of the model for one question. */
const maxTurns = 8;

/** Asks the model, runs the tools that it calls, and repeats this until the model answers. */
export async function complete(question: string, options: Options) {
  const messages: Message[] = [
    { role: "system", content: options.instructions },
    { role: "user", content: question },
  ];
  const calls: string[] = [];
  for (let turn = 0; turn < maxTurns; turn++) {
    const reply = await ask(messages, options);
    messages.push(reply);
    if (!reply.tool_calls?.length) return { answer: reply.content, calls };
    for (const call of reply.tool_calls) {
      options.log?.(`${call.function.name} ${call.function.arguments}`);
      calls.push(call.function.name);
      messages.push({ role: "tool", tool_call_id: call.id, content: await resultOf(call, options.tools) });
    }
  }
  throw new FinalError(`The model did not answer within ${maxTurns} turns.`);
}

async function ask(messages: readonly Message[], options: Options): Promise<Message> {
  const { baseUrl, apiKey, model, tools, signal } = options;
  const described = Object.entries(tools).map(([name, { description, parameters }]) => ({
    type: "function",
    function: { name, description, parameters },
  }));
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages, tools: described }),
    signal: signal ?? null,
  });
  if (!response.ok) {
    const message = `The model's endpoint answered ${response.status}: ${await response.text()}`;
    // Rate limits and failures of the endpoint pass. Other errors stay, so a retry would not help.
    throw response.status === 429 || response.status >= 500 ? new Error(message) : new FinalError(message);
  }
  const { choices } = (await response.json()) as { choices: { message: Message }[] };
  const message = choices[0]?.message;
  if (message === undefined) throw new Error("The model's endpoint returned no message.");
  return message;
}

/** The result of a call as JSON. The model gets errors too, and may correct its call. */
async function resultOf({ function: { name, arguments: json } }: ToolCall, tools: Options["tools"]) {
  try {
    const tool = tools[name];
    if (tool === undefined) throw new Error(`There is no tool ${name}.`);
    return JSON.stringify((await tool.run(JSON.parse(json))) ?? null);
  } catch (error) {
    return JSON.stringify({ error: String(error) });
  }
}
