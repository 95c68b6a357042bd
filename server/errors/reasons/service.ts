/** Reasons of errors: the service itself. */
import { Code } from "@connectrpc/connect";
import type { ReasonRow } from "./row.ts";

export type ServiceReason =
  | "STARTING"
  | "STORE_UNAVAILABLE"
  | "OUTCOME_UNKNOWN"
  | "STORAGE_UNAVAILABLE"
  | "UNAVAILABLE"
  | "INTERNAL";

export const service: Readonly<Record<ServiceReason, ReasonRow>> = {
  STARTING: {
    code: Code.Unavailable,
    meaning: "The server is starting.",
    advice: "Retry after the time of `RetryInfo`.",
  },
  STORE_UNAVAILABLE: {
    code: Code.Unavailable,
    meaning: "The service cannot reach its store or write to it.",
    advice: "Retry later; the operator finds the cause in the log of the service.",
  },
  OUTCOME_UNKNOWN: {
    code: Code.Unavailable,
    meaning: "The service lost its store during a commit: the request may have happened.",
    advice: "Check before you repeat it, or repeat it with the same `Idempotency-Key`.",
  },
  STORAGE_UNAVAILABLE: {
    code: Code.Unavailable,
    meaning: "The service cannot read or write packages in its object storage.",
    advice: "Retry later; the operator finds the cause in `/health` and in the log of the service.",
  },
  UNAVAILABLE: {
    code: Code.Unavailable,
    meaning: "The service cannot respond at the moment.",
    advice: "Retry later.",
  },
  INTERNAL: {
    code: Code.Internal,
    meaning: "The service failed to process the request.",
    advice: "Retry later; the operator finds the cause in the log of the service.",
  },
};
