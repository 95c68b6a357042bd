import { invalidArgument, isRestError, messageOf, quote } from "./error.ts";
import type { Call } from "./request.ts";
import type { Settings } from "./settings.ts";
import { toToolError, toToolResult } from "./tool-result.ts";

/** JSON Schema (2020-12) of the arguments of a tool. */
export interface ToolParameters {
  type: "object";
  properties: Record<string, { type: "string" | "object"; description: string }>;
  required: string[];
  additionalProperties: false;
}

export type ToolName = "http_get" | "http_post" | "http_put" | "http_delete";

/** A tool that a model can call. The adapters convert it for a model library. */
export interface AgentTool {
  readonly name: ToolName;
  readonly description: string;
  readonly category: "api";
  readonly source: "plugin";
  readonly parameters: ToolParameters;
  /**
   * Validates the arguments and sends the request.
   *
   * @param args - arguments as the model wrote them
   * @param options - `signal` aborts the call with a RestError `aborted`
   * @returns the parsed response, as truncated text when it exceeds `toolResultMaxChars`; bytes are described; secrets
   *   are replaced by `***`
   * @throws RestError, with secrets redacted
   */
  execute(args: unknown, options?: { signal?: AbortSignal }): Promise<unknown>;
}

const definitions = [
  ["http_get", "GET", "params"],
  ["http_post", "POST", "data"],
  ["http_put", "PUT", "data"],
  ["http_delete", "DELETE", "params"],
] as const;

const argumentDescriptions = {
  endpoint: "Path below the base URL, for example /users/42",
  params: "Query parameters by name",
  data: "JSON object to send as the body",
};

export function createTools(
  settings: Settings,
  send: (call: Call) => Promise<unknown>,
): readonly AgentTool[] {
  return definitions.map(([name, method, second]) => ({
    name,
    description: `Sends a ${method} request to the API at ${settings.base.href} and returns the response.`,
    category: "api",
    source: "plugin",
    parameters: {
      type: "object",
      properties: {
        endpoint: { type: "string", description: argumentDescriptions.endpoint },
        [second]: { type: "object", description: argumentDescriptions[second] },
      },
      required: ["endpoint"],
      additionalProperties: false,
    },
    async execute(args, { signal } = {}) {
      const { endpoint, object } = checkArguments(name, second, args);
      const options = { ...(signal && { signal }), ...(object && second === "params" && { params: object }) };
      const body = second === "data" ? object : undefined;
      try {
        const call: Call = { method, path: endpoint, options, body, guarded: settings.guardTools };
        return toToolResult(await send(call), settings);
      } catch (error) {
        throw toToolError(error, settings);
      }
    },
  }));
}

/**
 * Runs the tool that a model named and returns the text for the model. A failure gives its message and the response
 * body.
 *
 * @param args - the arguments, as an object or as JSON text; empty text stands for no arguments
 */
export async function runTool(
  tools: readonly AgentTool[],
  name: string,
  args: unknown,
  options: { signal?: AbortSignal } | undefined,
): Promise<{ text: string; isError: boolean }> {
  try {
    const tool = tools.find((candidate) => candidate.name === name);
    if (!tool) {
      const names = tools.map((candidate) => candidate.name).join(", ");
      throw invalidArgument(`Cannot call the tool ${quote(name)}: the tools are ${names}`);
    }
    const result = await tool.execute(typeof args === "string" ? parseArguments(name, args) : args, options);
    return { text: textOf(result), isError: false };
  } catch (error) {
    const body = isRestError(error) && error.body !== null ? `\n${textOf(error.body)}` : "";
    return { text: `Error: ${messageOf(error)}${body}`, isError: true };
  }
}

function parseArguments(name: string, text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidArgument(`Cannot call ${name}: the arguments must be JSON: ${messageOf(error)}`);
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function checkArguments(
  tool: ToolName,
  second: "params" | "data",
  args: unknown,
): { endpoint: string; object: Record<string, unknown> | undefined } {
  const fail = (rule: string): Error => invalidArgument(`Cannot call ${tool}: ${rule}`);
  if (!isObject(args)) throw fail(`the arguments must be an object, got ${quote(args)}`);
  // Own properties only: a prototype is not an argument.
  const given = new Map(Object.entries(args));
  for (const key of given.keys()) {
    if (key !== "endpoint" && key !== second) {
      throw fail(`the arguments are endpoint and ${second}, got ${quote(key)}`);
    }
  }
  const endpoint = given.get("endpoint");
  if (typeof endpoint !== "string") throw fail(`endpoint must be a string, got ${quote(endpoint)}`);
  const object = given.get(second);
  if (object !== undefined && !isObject(object))
    throw fail(`${second} must be an object, got ${quote(object)}`);
  return { endpoint, object };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
