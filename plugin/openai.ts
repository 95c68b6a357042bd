import { failureText, findTool, parseArguments, resultText } from "./adapter.ts";
import type { AgentTool, ToolParameters } from "./tools.ts";

/** A tool as the Chat Completions API takes it. */
export interface OpenAiChatTool {
  type: "function";
  function: { name: string; description: string; parameters: ToolParameters & Record<string, unknown> };
}

/** A tool as the Responses API takes it. */
export interface OpenAiResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: ToolParameters & Record<string, unknown>;
  /** False: strict mode knows no free objects, which `params` and `data` are. */
  strict: false;
}

/** What a chat model asks for: an element of `message.tool_calls`. */
export interface OpenAiChatCall {
  id: string;
  function: { name: string; arguments: string };
}

/** What a model of the Responses API asks for: an item of `output`. */
export interface OpenAiResponsesCall {
  call_id: string;
  name: string;
  arguments: string;
}

export interface OpenAiTools {
  /** For `chat.completions.create({ tools })`. */
  chat: OpenAiChatTool[];
  /** For `responses.create({ tools })`. */
  responses: OpenAiResponsesTool[];
  /** Runs a call of a chat model. Failures become the content, for the model to read. */
  runChat(
    call: OpenAiChatCall,
    options?: { signal?: AbortSignal },
  ): Promise<{ role: "tool"; tool_call_id: string; content: string }>;
  /** Runs a call of the Responses API. Failures become the output, for the model to read. */
  runResponses(
    call: OpenAiResponsesCall,
    options?: { signal?: AbortSignal },
  ): Promise<{ type: "function_call_output"; call_id: string; output: string }>;
}

/** The tools for OpenAI function calling, and for whatever speaks that protocol. */
export function toOpenAiTools(tools: readonly AgentTool[]): OpenAiTools {
  async function run(name: string, args: string, options?: { signal?: AbortSignal }): Promise<string> {
    try {
      return resultText(await findTool(tools, name).execute(parseArguments(name, args), options));
    } catch (error) {
      return failureText(error);
    }
  }
  const shapes = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters: { ...parameters },
  }));
  return {
    chat: shapes.map((shape) => ({ type: "function", function: shape })),
    responses: shapes.map((shape) => ({ type: "function", ...shape, strict: false })),
    async runChat(call, options) {
      const content = await run(call.function.name, call.function.arguments, options);
      return { role: "tool", tool_call_id: call.id, content };
    },
    async runResponses(call, options) {
      const output = await run(call.name, call.arguments, options);
      return { type: "function_call_output", call_id: call.call_id, output };
    },
  };
}
