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

/** So much of a refused body is read and thrown away, since a sender who is cut off may never see the answer. */
const maxIgnoredBytes = 8 * 1024 * 1024;

/**
 * A request that is refused before its body was read: the rest is thrown away up to a bound, and beyond it the connection
 * ends. Left alone, it would be read for nobody on Node and would block the connection on Deno.
 */
function restOfBody(request: Request | undefined): Record<string, string> {
  if (request === undefined || request.complete || request.httpVersionMajor > 1) return {};
  const length = request.headers["content-length"];
  if (length === undefined && request.headers["transfer-encoding"] === undefined) return {};
  if (length !== undefined && Number(length) > maxIgnoredBytes) return { connection: "close" };
  let ignored = 0;
  request.on("data", (chunk: Uint8Array) => {
    ignored += chunk.byteLength;
    if (ignored > maxIgnoredBytes) request.destroy();
  });
  request.resume();
  return {};
}
