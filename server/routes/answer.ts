/** Answers outside of the RPC protocols: JSON, and the one error shape. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConnectError } from "@connectrpc/connect";
import { errorJson, statusHeader, statusOf } from "../errors.ts";

/** Every HTTP version's request and response, in the shape that `node:http` gives them. */
export type Request = IncomingMessage;
export type Response = ServerResponse;

export function sendJson(
  response: Response,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
    ...headers,
  });
  response.end(text);
}

/** Sends an error with the status and headers that it carries. */
export function sendError(
  response: Response,
  error: ConnectError,
  headers: Record<string, string> = {},
): void {
  const all: Record<string, string> = { ...headers };
  for (const [name, value] of error.metadata) if (name !== statusHeader) all[name] = value;
  sendJson(response, statusOf(error), errorJson(error), all);
}
