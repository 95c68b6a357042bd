/** The log entry of a request that failed for a reason that its sender does not learn. */
import { isDiskFull } from "../errors.ts";
import { log, reasonOf } from "../telemetry/log/index.ts";

export type Report = (error: unknown, requestId?: string) => void;

/** A full disk refuses every request that writes. One entry per minute is enough for the operator. */
const diskFullIntervalMs = 60_000;
let diskFullAtMs = Number.NEGATIVE_INFINITY;

export const report: Report = (error, requestId) => {
  if (!isDiskFull(error)) return log.error("Request failed", { error, request_id: requestId });
  const nowMs = performance.now();
  if (nowMs - diskFullAtMs < diskFullIntervalMs) return;
  diskFullAtMs = nowMs;
  log.error("The disk of the data folder is full: requests are refused", { reason: reasonOf(error) });
};
