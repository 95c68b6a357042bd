/** Counts requests in the metrics, and ends their spans. */
import { metrics, secondsSince } from "../telemetry/metrics/index.ts";
import type { RequestSpan } from "../telemetry/tracing/tracer.ts";
import type { Request, Response } from "./answer.ts";

/** What is known of a request while it is handled. */
export interface Measured {
  /** The handler in the metrics: a closed set of names. */
  handler: string;
  /** Null without tracing. */
  span: RequestSpan | null;
}

/** They would hide the requests of users. */
const untraced = new Set(["probe", "metrics", "openapi", "unknown"]);
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** @param startedMs - by `performance.now()` */
export function countRequest(
  request: Request,
  response: Response,
  { handler, span }: Measured,
  startedMs: number,
): void {
  const { method = "" } = request;
  const code = response.headersSent ? response.statusCode : 499;
  metrics.requests.add(handler, methods.has(method) ? method : "other", String(code));
  metrics.requestDuration.observe(secondsSince(startedMs), handler);
  if (span !== null && !untraced.has(handler)) span.end(`${method} ${handler}`, method, code);
}
