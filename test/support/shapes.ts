/** JSON responses of the REST paths, with the fields that the tests read. */

export interface ErrorJson {
  code: string;
  message: string;
  details?: { type: string; value: string; debug: unknown }[];
  /** Present when a request waited for an execution that failed. */
  execution_id?: string;
}

export interface ViolationJson {
  field: string;
  description: string;
}

export interface ExecutionJson {
  execution_id: string;
  status: string;
  kind: string;
  name: string;
  trigger: string;
  deployment_id: string;
  environment: string;
  input: unknown;
  output?: unknown;
  error?: { name: string; message: string; stack: string; violations: ViolationJson[] };
  unmapped: string[];
  attempt: number;
  parent_execution_id: string;
  created_at: string;
  started_at?: string;
  finished_at?: string;
}

export interface LogLineJson {
  cursor: string;
  time: string;
  level: string;
  source: string;
  message: string;
  execution_id: string;
  deployment_id: string;
  name: string;
  environment: string;
}

export interface WatchEvent {
  execution?: ExecutionJson;
  log?: LogLineJson;
}

export interface DeploymentJson {
  deployment_id: string;
  project: string;
  version: string;
  environment: string;
  status: string;
  digest: string;
  size_bytes: string;
  file_count: number;
  agents: {
    name: string;
    display_name: string;
    timeout: string;
    max_retries: number;
    description: string;
    expose_as_tool: boolean;
    input_schema?: object;
    output_schema?: object;
  }[];
  workflows: { name: string }[];
  webhooks: {
    kind: string;
    name: string;
    slug: string;
    url: string;
    field_mapping: Record<string, string>;
  }[];
  schedules: { kind: string; name: string; cron: string; timezone: string; next_run_at?: string }[];
  created_by: { key_id: string; name: string };
  created_at: string;
  activated_at?: string;
  error: string;
  source_deployment_id: string;
  files: { path: string; size_bytes: string; digest: string }[];
  events: { at: string; event: string; by?: { key_id: string; name: string } }[];
  unchanged: boolean;
  warnings: string[];
}

export interface DeploymentPage {
  deployments: DeploymentJson[];
  next_page_token: string;
}

export interface ExecutionPage {
  executions: ExecutionJson[];
  next_page_token: string;
}

export interface UploadJson {
  upload_id: string;
  url: string;
  expires_at: string;
  already_stored: boolean;
}

export interface WebhookListJson {
  organization: { org_id: string; name: string };
  agents: WebhookGroup[];
  workflows: WebhookGroup[];
}

interface WebhookGroup {
  name: string;
  webhooks: {
    slug: string;
    url: string;
    field_mapping: Record<string, string>;
    rate_limit: { requests_per_second: number; burst: number; remaining: number };
  }[];
}

export interface AcceptedJson {
  execution_id: string;
  status: string;
  output?: unknown;
}

export interface ScheduleJson {
  schedule_id: string;
  kind: string;
  name: string;
  cron: string;
  timezone: string;
  enabled: boolean;
  paused: boolean;
  overlap: string;
  catch_up: string;
  input: unknown;
  environment: string;
  deployment_id: string;
  next_run_at?: string;
  next_runs: string[];
  ticks: {
    due_at: string;
    outcome: string;
    reason: string;
    execution_id: string;
    execution_status: string;
  }[];
}

export interface HealthJson {
  status: string;
  version: string;
  runtime: string;
  organization: string;
  checks: { store: string; storage: string; executor: string; scheduler: string };
  isolation: string;
  client_address: string;
  proxy_ignored: boolean;
}

export interface DeliveryJson {
  delivery_id: string;
  slug: string;
  outcome: string;
  http_status: number;
  reason: string;
  execution_id: string;
  size_bytes: string;
  headers: Record<string, string>;
  payload?: unknown;
}

export interface DeliveryPage {
  deliveries: DeliveryJson[];
  next_page_token: string;
}
