/** Reasons of errors: exceeded limits. */
import { Code } from "@connectrpc/connect";
import type { ReasonRow } from "./row.ts";

export type LimitReason =
  | "BODY_TOO_LARGE"
  | "BODY_TOO_SLOW"
  | "BODY_INCOMPLETE"
  | "RATE_LIMITED"
  | "RESOURCE_EXHAUSTED"
  | "DEADLINE_EXCEEDED"
  | "CANCELLED";

export const limits: Readonly<Record<LimitReason, ReasonRow>> = {
  BODY_TOO_LARGE: {
    code: Code.ResourceExhausted,
    status: 413,
    meaning: "The body or message exceeds a limit of bytes.",
    advice: "Send less, or raise the limit that the message names.",
  },
  BODY_TOO_SLOW: {
    code: Code.DeadlineExceeded,
    status: 408,
    meaning: "The body did not arrive in time.",
    advice: "Send it again over a faster connection.",
  },
  BODY_INCOMPLETE: {
    code: Code.InvalidArgument,
    meaning: "The body ended early.",
    advice: "Send it again.",
  },
  RATE_LIMITED: {
    code: Code.ResourceExhausted,
    meaning: "Too many requests; `QuotaFailure` names the limits.",
    advice: "Wait as long as `RetryInfo` says.",
  },
  RESOURCE_EXHAUSTED: {
    code: Code.ResourceExhausted,
    meaning: "A limit without an entry of its own was exceeded.",
    advice: "Send less or fewer requests.",
  },
  DEADLINE_EXCEEDED: {
    code: Code.DeadlineExceeded,
    meaning: "The deadline of the call passed before its end. A change may have been made.",
    advice: "Check the state before you retry, or allow more time.",
  },
  CANCELLED: {
    code: Code.Canceled,
    meaning: "The client cancelled the call.",
    advice: "Nothing to do.",
  },
};
