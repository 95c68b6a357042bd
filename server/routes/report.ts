/** The log entry of a request that failed for a reason that its sender does not learn. */
import { log } from "../telemetry/log/index.ts";

export type Report = (error: unknown, requestId?: string) => void;

export const report: Report = (error, requestId) =>
  log.error("Request failed", { error, request_id: requestId });
