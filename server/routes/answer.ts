/** Responses of REST paths: JSON, and errors in the one public format. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConnectError } from "@connectrpc/connect";
import { errorJson, statusHeader, statusOf } from "../errors.ts";
import { discardRest, mustClose } from "./body-pace.ts";

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

/** Sends an error with the status and headers that it carries. The rest of the request's body is discarded. */
export function sendError(
  response: Response,
  error: ConnectError,
  headers: Record<string, string> = {},
): void {
  const all: Record<string, string> = { ...headers };
  const request: Request | undefined = response.req;
  if (request !== undefined) {
    if (mustClose(request)) all.connection = "close";
    discardRest(request, response);
  }
  for (const [name, value] of error.metadata) if (!protocolHeaders.has(name)) all[name] = value;
  sendJson(response, statusOf(error), errorJson(error), all);
}
