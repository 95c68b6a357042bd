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

/** An error that came through the router carries headers of its protocol, which are not those of this answer. */
const protocolHeaders = new Set([
  statusHeader,
  "content-type",
  "content-length",
  "content-encoding",
  "connect-content-encoding",
  "connect-accept-encoding",
  "accept-post",
  "trailer",
]);

/** Sends an error with the status and headers that it carries. */
export function sendError(
  response: Response,
  error: ConnectError,
  headers: Record<string, string> = {},
): void {
  const all: Record<string, string> = { ...headers, ...restOfBody(response.req) };
  for (const [name, value] of error.metadata) if (!protocolHeaders.has(name)) all[name] = value;
  sendJson(response, statusOf(error), errorJson(error), all);
}

/** What is left of a body that long is not waited for. */
const maxIgnoredBytes = 64 * 1024;

/**
 * A request that is refused before its body was read: a short rest is read and thrown away, a long one ends the
 * connection. Left alone, it would be read for nobody on Node and would block the connection on Deno.
 */
function restOfBody(request: Request | undefined): Record<string, string> {
  if (request === undefined || request.complete || request.httpVersionMajor > 1) return {};
  const length = request.headers["content-length"];
  if (length === undefined && request.headers["transfer-encoding"] === undefined) return {};
  if (length === undefined || Number(length) > maxIgnoredBytes) return { connection: "close" };
  request.resume();
  return {};
}
