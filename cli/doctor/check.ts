import { CliError } from "../app/errors.ts";

/** IDs of the checks. Programs rely on them. */
export type CheckId =
  | "runtime"
  | "api-key"
  | "service"
  | "authentication"
  | "health"
  | "isolation"
  | "clock"
  | "address"
  | "project-file"
  | "webhooks"
  | "schedules"
  | "secrets";

/** The result of one check. */
export interface Check {
  id: CheckId;
  /** `skipped` when the check needs something that another check has not found. */
  status: "ok" | "failed" | "skipped";
  message: string;
  /** What to do; empty unless the check failed. */
  advice: string;
}

export function passed(id: CheckId, message: string): Check {
  return { id, status: "ok", message, advice: "" };
}

export function skipped(reason: string, ...ids: readonly CheckId[]): Check[] {
  return ids.map((id) => ({ id, status: "skipped", message: reason, advice: "" }));
}

export function failed(id: CheckId, message: string, advice: string): Check {
  return { id, status: "failed", message, advice };
}

export function failedWith(id: CheckId, error: unknown): Check {
  return error instanceof CliError ? failed(id, error.message, error.advice) : failed(id, String(error), "");
}
