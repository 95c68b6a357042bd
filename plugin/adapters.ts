/** Converts the tools for the libraries that call models: OpenAI, the AI SDK and MCP. */
import { type AgentTool, runTool, type ToolParameters } from "./tools.ts";

/** JSON Schema as the libraries declare it. */
type Schema = ToolParameters & Record<string, unknown>;

/** A tool of the Chat Completions API. */
export interface OpenAiChatTool {
  type: "function";
  function: { name: string; description: string; parameters: ToolParameters & Record<string, unknown> };
}

/** A tool of the Responses API. */
export interface OpenAiResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: Schema;
  /** False, because strict mode does not support objects with arbitrary properties, such as `params` and `data`. */
  strict: false;
}

/** A tool call of the Chat Completions API: an element of `message.tool_calls`. */
export interface OpenAiChatCall {
  id: string;
  function: { name: string; arguments: string };
}

/** A tool call of the Responses API: an item of `output`. */
export interface OpenAiResponsesCall {
  call_id: string;
  name: string;
  arguments: string;
}

export interface OpenAiTools {
  /** Tools for `chat.completions.create({ tools })`. */
  chat: OpenAiChatTool[];
  /** Tools for `responses.create({ tools })`. */
  responses: OpenAiResponsesTool[];
  /** Runs a tool call of the Chat Completions API. A failure becomes the content. */
  runChat(
    call: OpenAiChatCall,
    options?: { signal?: AbortSignal },
  ): Promise<{ role: "tool"; tool_call_id: string; content: string }>;
  /** Runs a tool call of the Responses API. A failure becomes the output. */
  runResponses(
    call: OpenAiResponsesCall,
    options?: { signal?: AbortSignal },
  ): Promise<{ type: "function_call_output"; call_id: string; output: string }>;
}

/** Converts the tools for OpenAI function calling and compatible APIs. */
export function toOpenAiTools(tools: readonly AgentTool[]): OpenAiTools {
  const functions = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters: { ...parameters },
  }));
  return {
    chat: functions.map((definition) => ({ type: "function", function: definition })),
    responses: functions.map((definition) => ({ type: "function", ...definition, strict: false })),
    async runChat(call, options) {
      const { text } = await runTool(tools, call.function.name, call.function.arguments, options);
      return { role: "tool", tool_call_id: call.id, content: text };
    },
    async runResponses(call, options) {
      const { text } = await runTool(tools, call.name, call.arguments, options);
      return { type: "function_call_output", call_id: call.call_id, output: text };
    },
  };
}

/** The parts of a tool that the package `ai` needs. */
export interface AiSdkTool {
  description: string;
  /** Argument for `jsonSchema` of the package. */
  parameters: Schema;
  /** Runs the tool. It throws failures, which the SDK reports to the model as tool errors. */
  execute(input: unknown, options: { abortSignal?: AbortSignal | undefined }): Promise<unknown>;
}

/**
 * Converts the tools for the AI SDK, as an object by name for `generateText({ tools })`.
 *
 * ```ts
 * import { jsonSchema, tool } from "ai";
 * const tools = toAiSdkTools(api.tools, ({ parameters, ...rest }) =>
 *   tool({ ...rest, inputSchema: jsonSchema(parameters) }),
 * );
 * ```
 *
 * @param define - creates a tool of the SDK; it keeps the plugin independent of the SDK's version
 */
export function toAiSdkTools<Tool>(
  tools: readonly AgentTool[],
  define: (tool: AiSdkTool) => Tool,
): Record<string, Tool> {
  return Object.fromEntries(
    tools.map(({ name, description, parameters, execute }) => [
      name,
      define({
        description,
        parameters: { ...parameters },
        execute: (input, { abortSignal }) => execute(input, abortSignal ? { signal: abortSignal } : {}),
      }),
    ]),
  );
}

/** A tool in the result of `tools/list`. */
export interface McpTool {
  name: string;
  description: string;
  inputSchema: Schema;
}

/** Result of `tools/call`. The index signature is part of the protocol. */
export interface McpToolResult {
  [key: string]: unknown;
  content: { type: "text"; text: string }[];
  isError?: boolean;
}

export interface McpTools {
  /** Handles `tools/list`. */
  list(): Promise<{ tools: McpTool[] }>;
  /** Handles `tools/call`. A failure becomes a result with `isError`. */
  call(
    request: { params: { name: string; arguments?: Record<string, unknown> } },
    extra?: { signal?: AbortSignal },
  ): Promise<McpToolResult>;
}

/**
 * Converts the tools to handlers of an MCP server.
 *
 * ```ts
 * const mcp = toMcpTools(api.tools);
 * server.setRequestHandler(ListToolsRequestSchema, mcp.list);
 * server.setRequestHandler(CallToolRequestSchema, mcp.call);
 * ```
 */
export function toMcpTools(tools: readonly AgentTool[]): McpTools {
  return {
    async list() {
      return {
        tools: tools.map(({ name, description, parameters }) => ({
          name,
          description,
          inputSchema: { ...parameters },
        })),
      };
    },
    async call({ params }, extra) {
      const options = extra?.signal ? { signal: extra.signal } : {};
      const { text, isError } = await runTool(tools, params.name, params.arguments ?? {}, options);
      return { content: [{ type: "text", text }], ...(isError && { isError }) };
    },
  };
}
