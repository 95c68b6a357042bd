import { defineAgent } from "svc";
import { complete } from "./chat.ts";
import { tools } from "./tools.ts";

interface Input {
  question?: string;
}

const instructions =
  "You help customers of a shop. Use the tools to look up orders. Answer in one or two sentences.";

/** Answers a question. The model may call the tools first. */
export default defineAgent(async ({ question = "Where is order 1001?" }: Input, ctx) => {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL } = ctx.secrets;
  if (OPENAI_API_KEY === undefined) {
    ctx.log.warn("The secret OPENAI_API_KEY is not set, so no model is asked.");
    return { answer: null };
  }
  return complete(question, {
    baseUrl: OPENAI_BASE_URL ?? "https://api.openai.com/v1",
    apiKey: OPENAI_API_KEY,
    model: OPENAI_MODEL ?? "gpt-4o-mini",
    instructions,
    tools,
    signal: ctx.signal,
    log: (text) => ctx.log.info(text),
  });
});
