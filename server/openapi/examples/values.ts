/** Values of fields, by `Message.field` or by the name of the field in all messages. */

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

const time = (clock: string) => `2026-03-02T${clock}Z`;
const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

export const values: Readonly<Record<string, Json>> = {
  // Identifiers
  org_id: "org_7f3k9m2q5w8x1z4b6d0g3h5j7n",
  "CheckResponse.organization": "org_7f3k9m2q5w8x1z4b6d0g3h5j7n",
  deployment_id: "dep_01kjq2v8r5e3c7x9m4t6w1z0ab",
  execution_id: "exe_01kjq2x4n7h2d9f5s8v3y6b1gc",
  schedule_id: "sch_01kjq2v8r6g4d8y0n5v7x2a1bc",
  delivery_id: "dlv_01kjq2x4n8j3e0g6t9w4z7c2hd",
  upload_id: "upl_01kjq2v7p3d1b5w8k2r4t9x6ye",
  key_id: "key_4t8w2y6b0e3h7k1n5r9v2x6z8c",
  cursor: "48213",
  after: "48213",
  page_token: "ZXhlXzAxa2pxMng0bjdoMmQ5ZjVzOHYzeTZiMWdj",
  next_page_token: "",
  page_size: 50,
  payload_omitted: false,
  "DownloadExecutionRequest.field": "output",
  "DownloadExecutionResponse.data": "eyJsYWJlbCI6ImJ1ZyJ9",

  // Targets and projects
  name: "triage",
  kind: "agent",
  project: "support",
  version: "1.4.0",
  environment: "production",
  display_name: "Triage",
  slug: "github-issue",
  agent_name: "triage",
  workflow_name: "onboarding",
  webhook_slug: "github-issue",
  timeout: "300s",
  max_retries: 3,
  field_mapping: { "issue.title": "title", "issue.labels[0].name": "label" },
  signature_scheme: "github",
  warnings: [],
  unchanged: false,
  source_deployment_id: "",
  "DeployedWebhook.url":
    "https://svc.example.com/webhook/org_7f3k9m2q5w8x1z4b6d0g3h5j7n/agent/triage/github-issue",
  "Webhook.url": "https://svc.example.com/webhook/org_7f3k9m2q5w8x1z4b6d0g3h5j7n/agent/triage/github-issue",
  "CreateUploadResponse.url":
    "https://svc.example.com/storage/packages/9f86d081?expires=1772446500&signature=6b1f0c",
  "DownloadDeploymentResponse.url":
    "https://svc.example.com/storage/packages/9f86d081?expires=1772443800&signature=c04d7a",

  // Packages
  digest,
  size_bytes: "48213",
  file_count: 12,
  already_stored: false,
  "CreateUploadResponse.parts": [],
  include_files: true,
  files_page_token: "",
  next_files_page_token: "",
  redeploy: false,
  force: false,
  "PackageFile.path": "agents/triage.ts",

  // Executions
  "Execution.status": "succeeded",
  "Execution.input": { title: "App crashes on start" },
  "Execution.output": { priority: "high" },
  "ListExecutionsRequest.status": "failed",
  "DeliveryResponse.status": "queued",
  input: { title: "App crashes on start" },
  output: { priority: "high" },
  trigger: "webhook",
  unmapped: [],
  attempt: 1,
  parent_execution_id: "",
  replay_of: "",
  input_omitted: false,
  output_omitted: false,
  attempts: [],
  "MappingStep.path": "issue.title",
  parameter: "title",
  found: true,
  type: "string",
  reading: "path",
  stopped_at: "",
  because: "",
  "ExecutionError.name": "TypeError",
  "ExecutionError.message": "Cannot read properties of undefined (reading 'title')",
  stack: "TypeError: Cannot read properties of undefined (reading 'title')\n    at agents/triage.ts:4:22",
  "GetExecutionRequest.view": "tree",
  view: "basic",
  descendants: [],
  child_count: 0,
  follow: true,
  lines: 100,
  audit: false,
  level: "info",
  source: "console",
  message: "attempt 1",

  // Deployments
  "Deployment.status": "active",
  "ListDeploymentsRequest.status": "active",
  "Deployment.error": "",
  event: "activated",
  "Author.name": "ci",

  // Schedules
  cron: "0 9 * * 1-5",
  timezone: "Europe/Berlin",
  enabled: true,
  paused: false,
  overlap: "skip",
  catch_up: "3600s",
  "Schedule.input": {},
  next_runs: [time("08:00:00"), "2026-03-03T08:00:00Z"],
  "Tick.outcome": "run",
  "Tick.reason": "",
  "Tick.execution_status": "succeeded",

  // Webhooks
  api_key_only: false,
  "Delivery.outcome": "accepted",
  "ListDeliveriesRequest.outcome": "rejected",
  http_status: 202,
  "Delivery.reason": "",
  "Delivery.headers": { "content-type": "application/json", "x-github-event": "issues" },
  "Delivery.payload": {
    action: "opened",
    issue: { title: "App crashes on start", labels: [{ name: "bug" }] },
  },
  "TriggerWebhookResponse.status": "queued",
  replayed: false,
  current: false,

  // The organization
  "Organization.name": "Acme",
  "WebhookOrganization.name": "Acme",
  "ApiKey.name": "ci",
  "ApiKey.scope": "deploy",
  "ApiKey.current": true,
  "Secret.name": "GITHUB_SECRET",
  "SetSecretRequest.name": "GITHUB_SECRET",
  "DeleteSecretRequest.name": "GITHUB_SECRET",
  token: "svc_4t8w2y6b0e3h7k1n5r9v2x6z8c_5f1c9a7e3b8d2604f6a1c7e9b3d5082f4a6c8e0b2d4f6819a7c5e3b1d9f70824",

  // Health
  "CheckResponse.status": "ok",
  "CheckResponse.version": "0.1.0",
  runtime: "node 24.21.0",
  isolation: "bubblewrap around node 24.21.0",
  store: "ok",
  storage: "ok",
  executor: "ok",
  scheduler: "ok",

  // Times
  created_at: time("09:15:00"),
  updated_at: time("09:15:00"),
  activated_at: time("09:15:02"),
  expires_at: time("10:15:00"),
  last_used_at: time("09:14:00"),
  received_at: time("09:15:00"),
  started_at: time("09:15:00.012"),
  finished_at: time("09:15:01.480"),
  retry_at: time("09:15:03"),
  next_run_at: "2026-03-03T08:00:00Z",
  due_at: time("08:00:00"),
  at: time("09:15:02"),
  time: time("09:15:00.020"),
  since: time("00:00:00"),
};

/** Fields that an ordinary response does not have. */
export const absent: ReadonlySet<string> = new Set([
  "Execution.error",
  "Execution.due_at",
  "Execution.response",
  "TriggerWebhookResponse.output",
  "ApiKey.expires_at",
  "ApiKey.revoked_at",
]);
