import type { Call } from "./engine.ts";
import { invalidArgument, quote } from "./error.ts";
import type { Settings } from "./settings.ts";
import { present, withoutSecrets } from "./tool-result.ts";

/** JSON Schema (2020-12) of a tool's arguments. */
export interface ToolParameters {
  type: "object";
  properties: Record<string, { type: "string" | "object"; description: string }>;
  required: string[];
  additionalProperties: false;
}

export type ToolName = "http_get" | "http_post" | "http_put" | "http_delete";

/** A tool that a model can call; the adapters give it the shape of a model library. */
export interface AgentTool {
  readonly name: ToolName;
  readonly description: string;
  readonly category: "api";
  readonly source: "plugin";
  readonly parameters: ToolParameters;
  /**
   * Checks the arguments and sends the request.
   *
   * @param args - as the model gave them
   * @param options - `signal` ends the call with a RestError `aborted`
   * @returns the parsed answer; as text, cut and with a note, when it is over `toolResultMaxChars`. Bytes are
   *   described, not shown. The credential is replaced by `***`
   * @throws RestError, without the credential
   */
  execute(args: unknown, options?: { signal?: AbortSignal }): Promise<unknown>;
}

/** Sends what a tool asks for. */
export type ToolSender = (call: Omit<Call, "guarded">) => Promise<unknown>;

const rows = [
  ["http_get", "GET", "params"],
  ["http_post", "POST", "data"],
  ["http_put", "PUT", "data"],
  ["http_delete", "DELETE", "params"],
] as const;

const argumentDescriptions = {
  endpoint: "Path below the base URL, for example /users/42",
  params: "Names and values of the query string",
  data: "JSON object to send as the body",
};

export function createTools(settings: Settings, send: ToolSender): readonly AgentTool[] {
  return rows.map(([name, method, second]) => ({
    name,
    description: `Sends a ${method} request to the API at ${settings.base.href} and returns its answer.`,
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
    async execute(args, options = {}) {
      const { endpoint, object } = checkArguments(name, second, args);
      const call: Omit<Call, "guarded"> = {
        method,
        path: endpoint,
        options: options.signal ? { signal: options.signal } : {},
      };
      if (object && second === "params") call.options.params = object;
      if (object && second === "data") call.body = object;
      try {
        return present(await send(call), settings);
      } catch (error) {
        throw withoutSecrets(error, settings);
      }
    },
  }));
}

function checkArguments(
  tool: ToolName,
  second: "params" | "data",
  args: unknown,
): { endpoint: string; object: Record<string, unknown> | null } {
  if (!isObject(args))
    throw invalidArgument(`Cannot call ${tool}: its arguments must be an object, got ${quote(args)}`);
  for (const key of Object.keys(args)) {
    if (key !== "endpoint" && key !== second) {
      throw invalidArgument(`Cannot call ${tool}: it takes endpoint and ${second}, got ${quote(key)}`);
    }
  }
  const endpoint = Object.hasOwn(args, "endpoint") ? args.endpoint : undefined;
  if (typeof endpoint !== "string") {
    throw invalidArgument(`Cannot call ${tool}: endpoint must be a string, got ${quote(endpoint)}`);
  }
  const object = Object.hasOwn(args, second) ? args[second] : undefined;
  if (object !== undefined && !isObject(object)) {
    throw invalidArgument(`Cannot call ${tool}: ${second} must be an object, got ${quote(object)}`);
  }
  return { endpoint, object: object ?? null };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
