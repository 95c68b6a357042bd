/** Responses of REST paths: JSON, and errors in the one public format. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";
import { errorJson, statusHeader, statusOf } from "../errors.ts";
import { discardRest, mustClose } from "./body-pace.ts";
import { requestIdHeader, requestIdOf } from "./request-id.ts";

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
  const length = String(Buffer.byteLength(text));
  sendWhole(
    response,
    status,
    { "content-type": "application/json", "content-length": length, ...headers },
    text,
  );
}

/**
 * Sends a whole response. Over HTTP/2 its end is in the packet of its headers: clients that stop sending at the headers may
 * end their request short of its Content-Length, and the runtime resets such a stream unless its response is complete.
 * `response.end` sends the end in a later packet, because trailers could follow.
 */
export function sendWhole(
  response: Response,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
): void {
  if (!("stream" in response)) {
    response.writeHead(status, headers);
    response.end(body);
    return;
  }
  const stream = response.stream as ServerHttp2Stream;
  if (stream.destroyed || stream.closed) return;
  response.statusCode = status;
  // Drops headers that HTTP/2 does not have.
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  stream.respond({ ":status": status, ...response.getHeaders() });
  if (response.req.method !== "HEAD") stream.end(body);
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
    all[requestIdHeader] = requestIdOf(request);
    if (mustClose(request)) all.connection = "close";
    discardRest(request, response);
  }
  for (const [name, value] of error.metadata) if (!protocolHeaders.has(name)) all[name] = value;
  sendJson(response, statusOf(error), errorJson(error), all);
}
