/** Responses of REST paths: JSON, and errors in the one public format. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConnectError } from "@connectrpc/connect";
import { errorJson, statusHeader, statusOf } from "../errors.ts";

/** Requests and responses of all HTTP versions have the interface of `node:http`. */
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

/** Errors of the router carry headers of its protocol, which must not reach a REST response. */
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
  const all: Record<string, string> = { ...headers, ...discardBody(response.req) };
  for (const [name, value] of error.metadata) if (!protocolHeaders.has(name)) all[name] = value;
  sendJson(response, statusOf(error), errorJson(error), all);
}

/** A rejected body is read up to this size: a client whose connection is reset may never see the response. */
const maxIgnoredBytes = 8 * 1024 * 1024;

/**
 * Discards the unread body of a rejected request up to a limit, beyond which the connection is closed. An unread body
 * is read without limit on Node and blocks the connection on Deno.
 */
function discardBody(request: Request | undefined): Record<string, string> {
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
