/**
 * Cross-origin requests of browsers (https://fetch.spec.whatwg.org/#http-cors-protocol) from the origins of
 * `SVC_CORS_ORIGINS`. Credentials are never allowed: the service has no cookies, and API keys are sent in a header.
 */
import type { Request, Response } from "./answer.ts";

const methods = "GET, HEAD, POST, PUT, DELETE";
/** Request headers of REST, Connect and gRPC-Web. */
const requestHeaders = [
  "authorization",
  "content-encoding",
  "content-type",
  "connect-accept-encoding",
  "connect-content-encoding",
  "connect-protocol-version",
  "connect-timeout-ms",
  "grpc-accept-encoding",
  "grpc-encoding",
  "grpc-timeout",
  "idempotency-key",
  "mcp-protocol-version",
  "prefer",
  "user-agent",
  "x-grpc-web",
  "x-request-id",
  "x-user-agent",
].join(", ");
/** Response headers that scripts may read besides the safelisted ones. */
const exposedHeaders = [
  "allow",
  "connect-content-encoding",
  "content-encoding",
  "grpc-encoding",
  "grpc-message",
  "grpc-status",
  "grpc-status-details-bin",
  "idempotent-replayed",
  "location",
  "preference-applied",
  "retry-after",
  "www-authenticate",
  "x-request-id",
].join(", ");
/** Browsers ask again after this time. Chromium caps it at 7,200 s. */
const maxAgeSeconds = 7_200;

export interface Cors {
  /** Sets the headers of the response. Returns true when it has answered a preflight request. */
  handle(request: Request, response: Response): boolean;
}

/** @param origins - `*`, or the origins that are allowed; empty allows none */
export function createCors(origins: readonly string[]): Cors {
  const any = origins.includes("*");
  const allowed = new Set(origins);
  if (origins.length === 0) return { handle: () => false };
  return {
    handle(request, response) {
      // The response depends on the origin, so that a cache must not give it to another one.
      if (!any) response.setHeader("vary", "Origin");
      const { origin } = request.headers;
      if (origin === undefined || !(any || allowed.has(origin))) return false;
      response.setHeader("access-control-allow-origin", any ? "*" : origin);
      response.setHeader("access-control-expose-headers", exposedHeaders);
      if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined)
        return false;
      response.writeHead(204, {
        "access-control-allow-methods": methods,
        "access-control-allow-headers": requestHeaders,
        "access-control-max-age": String(maxAgeSeconds),
        vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
      });
      response.end();
      return true;
    },
  };
}
