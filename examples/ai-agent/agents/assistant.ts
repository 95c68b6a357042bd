import { defineAgent, FinalError } from "svc";
import { complete, type Message } from "./lib/model.ts";
import { callTool, tools } from "./lib/tools.ts";

interface Input {
  question: string;
}

const instructions = `You answer customers of a shop, in at most two sentences.
Look up orders with the tools and never invent one.`;

const maxTurns = 6;

/** Asks a model, which may call tools before it answers. Without MODEL_KEY it runs one tool and asks no model. */
export default defineAgent(async ({ question }: Input, ctx) => {
  const { MODEL_KEY, MODEL_URL = "https://api.openai.com/v1", MODEL_NAME = "gpt-4o-mini" } = ctx.secrets;
  if (MODEL_KEY === undefined) {
    ctx.log.warn("The secret MODEL_KEY is not set, so no model is asked.");
    return { answer: null, order: callTool("find_order", '{"id": "1001"}') };
  }
  const messages: Message[] = [
    { role: "system", content: instructions },
    { role: "user", content: question },
  ];
  for (let turn = 1; turn <= maxTurns; turn++) {
    const request = { model: MODEL_NAME, messages, tools };
    const { message, tokens } = await complete(MODEL_URL, MODEL_KEY, request, ctx.signal);
    ctx.log.info(`turn ${turn}: ${tokens} tokens`);
    messages.push(message);
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) return { answer: message.content, turns: turn };
    for (const call of calls) {
      const result = callTool(call.function.name, call.function.arguments);
      ctx.log.info(`${call.function.name}(${call.function.arguments})`);
      messages.push({ role: "tool", tool_call_id: call.id, content: JSON.stringify(result) });
    }
  }
  // Another attempt would cost the same again.
  throw new FinalError(`The model did not answer within ${maxTurns} turns.`);
});
