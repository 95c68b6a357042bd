/** Reasons of errors: missing resources. */
import { Code } from "@connectrpc/connect";
import type { ReasonRow } from "./row.ts";

export type ResourceReason =
  | "RESOURCE_NOT_FOUND"
  | "NOT_FOUND"
  | "TARGET_NOT_FOUND"
  | "WEBHOOK_NOT_FOUND"
  | "WEBHOOK_GONE"
  | "WEBHOOK_AMBIGUOUS";

export const resources: Readonly<Record<ResourceReason, ReasonRow>> = {
  RESOURCE_NOT_FOUND: {
    code: Code.NotFound,
    meaning: "The organization has no such resource; `ResourceInfo` names it.",
    advice: "Check the id and the organization of the API key.",
  },
  NOT_FOUND: {
    code: Code.NotFound,
    meaning: "Something that the request names does not exist.",
    advice: "Check what the message names.",
  },
  TARGET_NOT_FOUND: {
    code: Code.NotFound,
    meaning: "No active deployment of the environment has such an agent or workflow.",
    advice: "Check name and environment, or deploy it.",
  },
  WEBHOOK_NOT_FOUND: {
    code: Code.NotFound,
    meaning: "There is no such webhook.",
    advice: "Compare the URL with `svc webhook list`.",
  },
  WEBHOOK_GONE: {
    code: Code.NotFound,
    status: 410,
    meaning: "The deployment of the webhook was deleted.",
    advice: "Remove the URL from the sender.",
  },
  WEBHOOK_AMBIGUOUS: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "Several webhooks have the slug.",
    advice: "Use the URL that names the agent or workflow.",
  },
};
