/** Examples of request bodies, and the parts in which the response of a method differs from the values of its fields. */

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/** By method; a method without a body has none. */
export const requests: Readonly<Record<string, Json>> = {
  CreateUpload: { digest, size_bytes: "48213" },
  CreateDeployment: { digest, environment: "production" },
  RollbackDeployment: {},
  RunExecution: { name: "triage", input: { title: "App crashes on start" } },
  CancelExecution: {},
  ReplayExecution: { input: { title: "App crashes on start, again" } },
  PauseSchedule: {},
  ResumeSchedule: {},
  CreateApiKey: { name: "ci", scope: "deploy", expires_at: "2027-03-02T00:00:00Z" },
  SetSecret: { value: "whsec_3fa1", environment: "staging" },
  RedeliverWebhook: { current: true },
  TriggerWebhook: { action: "opened", issue: { title: "App crashes on start", labels: [{ name: "bug" }] } },
};

export const responses: Readonly<Record<string, { [field: string]: Json }>> = {
  CreateUpload: { parts: [] },
  RunExecution: { status: "queued", trigger: "run" },
  ReplayExecution: { status: "queued", trigger: "replay", replay_of: "exe_01kjq1r2m5f0b8d4q7t1w5z9ye" },
  CancelExecution: { status: "cancelled" },
  RollbackDeployment: { status: "active" },
  DeleteDeployment: { status: "deleted" },
  PauseSchedule: { paused: true },
};
