/**
 * Identifies a request in the log of the server and in its error response: the `X-Request-Id` that a proxy or a client has
 * set, else the trace id of its `traceparent`, else a new id. It is made only when it is needed.
 */
import type { IncomingMessage } from "node:http";
import type { ConnectError } from "@connectrpc/connect";
import { randomId } from "../ids.ts";

export const requestIdHeader = "x-request-id";

const wellFormed = /^[\w.~+/=:@-]{1,128}$/;
const traceId = /^[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;

/** Not in the headers, which the delivery inspector shows as the sender has sent them. */
const ids = new WeakMap<object, string>();

export function requestIdOf(request: Pick<IncomingMessage, "headers">): string {
  const known = ids.get(request);
  if (known !== undefined) return known;
  const header = (name: string): string | null => {
    const value = request.headers[name];
    return typeof value === "string" ? value : null;
  };
  const id = idFrom(header);
  ids.set(request, id);
  return id;
}

/** For calls that know their headers only. */
export function requestIdIn(headers: Headers): string {
  return idFrom((name) => headers.get(name));
}

/** Names the request in an error, unless it is named already. */
export function withRequestId(error: ConnectError, id: string): ConnectError {
  if (!error.metadata.has(requestIdHeader)) error.metadata.set(requestIdHeader, id);
  return error;
}

function idFrom(header: (name: string) => string | null): string {
  const given = header(requestIdHeader);
  if (given !== null && wellFormed.test(given)) return given;
  return traceId.exec(header("traceparent") ?? "")?.[1] ?? randomId("req");
}
