import type { AgentTool, ToolParameters } from "./tools.ts";

/** What the adapter needs of the package `ai`: its functions `tool` and `jsonSchema`, which it is given. */
export interface AiSdk<Schema, Tool> {
  jsonSchema(schema: ToolParameters & Record<string, unknown>): Schema;
  tool(definition: {
    description: string;
    inputSchema: Schema;
    execute(input: unknown, options: { abortSignal?: AbortSignal }): Promise<unknown>;
  }): Tool;
}

/**
 * The tools for the AI SDK, by name, as `generateText({ tools })` takes them. A failure is thrown: the SDK makes of it
 * a tool error that the model reads.
 *
 * ```ts
 * import { jsonSchema, tool } from "ai";
 * const tools = toAiSdkTools(api.tools, { jsonSchema, tool });
 * ```
 */
export function toAiSdkTools<Schema, Tool>(
  tools: readonly AgentTool[],
  sdk: AiSdk<Schema, Tool>,
): Record<string, Tool> {
  return Object.fromEntries(
    tools.map(({ name, description, parameters, execute }) => [
      name,
      sdk.tool({
        description,
        inputSchema: sdk.jsonSchema({ ...parameters }),
        execute: (input, { abortSignal }) => execute(input, abortSignal ? { signal: abortSignal } : {}),
      }),
    ]),
  );
}
