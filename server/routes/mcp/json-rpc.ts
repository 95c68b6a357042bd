/** JSON-RPC 2.0 (https://www.jsonrpc.org/specification), as far as the Model Context Protocol uses it. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../project/json.ts";

export type Id = string | number;

/** A request, or a notification when it has no id. */
export interface Call {
  id: Id | null;
  method: string;
  params: JsonObject;
}

export const errorCodes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
} as const;

/** An error of the protocol. Errors of a tool are results, so that the model sees them. */
export class RpcError extends Error {
  override readonly name: string = "RpcError";
  readonly code: number;

  constructor(code: keyof typeof errorCodes, message: string) {
    super(message);
    this.code = errorCodes[code];
  }
}

/**
 * Reads one message. Null for a response, which this server has no use for: it sends no requests.
 * @throws RpcError when the value is not a message
 */
export function readCall(value: JsonValue): Call | null {
  if (!isJsonObject(value) || value.jsonrpc !== "2.0") {
    throw new RpcError("request", 'The message must be an object with "jsonrpc": "2.0".');
  }
  const { id = null, method, params = {} } = value;
  if (method === undefined && ("result" in value || "error" in value)) return null;
  if (typeof method !== "string") throw new RpcError("request", "The message has no method.");
  if (id !== null && typeof id !== "string" && typeof id !== "number") {
    throw new RpcError("request", "The id must be a string or a number.");
  }
  if (!isJsonObject(params)) throw new RpcError("params", "The params must be an object.");
  return { id, method, params };
}

export function resultMessage(id: Id, result: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, result };
}

export function errorMessage(id: Id | null, { code, message }: RpcError): JsonObject {
  return { jsonrpc: "2.0", id, error: { code, message } };
}
