import type { AgentTool, ToolParameters } from "./tools.ts";

/** A tool with what the package `ai` needs of it. */
export interface AiSdkTool {
  description: string;
  /** For `jsonSchema` of the package. */
  parameters: ToolParameters & Record<string, unknown>;
  /** Runs the tool. A failure is thrown: the SDK makes of it a tool error that the model reads. */
  execute(input: unknown, options: { abortSignal?: AbortSignal | undefined }): Promise<unknown>;
}

/**
 * The tools for the AI SDK, by name, as `generateText({ tools })` takes them.
 *
 * ```ts
 * import { jsonSchema, tool } from "ai";
 * const tools = toAiSdkTools(api.tools, ({ parameters, ...rest }) =>
 *   tool({ ...rest, inputSchema: jsonSchema(parameters) }),
 * );
 * ```
 *
 * @param define - makes a tool of the SDK, so that the plugin needs none of its versions
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
