import { failureText, findTool, resultText } from "./adapter.ts";
import type { AgentTool, ToolParameters } from "./tools.ts";

/** A tool as MCP's `tools/list` shows it. */
export interface McpTool {
  name: string;
  description: string;
  inputSchema: ToolParameters & Record<string, unknown>;
}

/** The result of MCP's `tools/call`; the index signature is the protocol's own. */
export interface McpToolResult {
  [key: string]: unknown;
  content: { type: "text"; text: string }[];
  isError?: boolean;
}

export interface McpTools {
  /** Answers `tools/list`. */
  list(): Promise<{ tools: McpTool[] }>;
  /** Answers `tools/call`. Failures become results with `isError`, for the model to read. */
  call(
    request: { params: { name: string; arguments?: Record<string, unknown> } },
    extra?: { signal?: AbortSignal },
  ): Promise<McpToolResult>;
}

/**
 * The tools for an MCP server, as handlers of its two requests.
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
      try {
        const options = extra?.signal ? { signal: extra.signal } : {};
        const result = await findTool(tools, params.name).execute(params.arguments ?? {}, options);
        return { content: [{ type: "text", text: resultText(result) }] };
      } catch (error) {
        return { content: [{ type: "text", text: failureText(error) }], isError: true };
      }
    },
  };
}
