/** Counts requests in the metrics. */
import { metrics, secondsSince } from "../telemetry/metrics/index.ts";
import type { Request, Response } from "./answer.ts";

/** What is known of a request while it is handled. */
export interface Measured {
  /** The handler in the metrics: a closed set of names. */
  handler: string;
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** @param startedMs - by `performance.now()` */
export function countRequest(
  request: Request,
  response: Response,
  { handler }: Measured,
  startedMs: number,
): void {
  const { method = "" } = request;
  const code = response.headersSent ? String(response.statusCode) : "499";
  metrics.requests.add(handler, methods.has(method) ? method : "other", code);
  metrics.requestDuration.observe(secondsSince(startedMs), handler);
}
