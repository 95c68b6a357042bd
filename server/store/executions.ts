/** Executions: one table is both the record and the queue. `leases.ts` has the statements of workers. */
import type { TargetKind } from "../../project/definition.ts";
import { all, first, type Program, type Statement } from "./engine.ts";

export type ExecutionStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled";
export type Origin = "webhook" | "schedule" | "run" | "replay" | "child";

export interface ExecutionRow {
  org_id: string;
  execution_id: string;
  status: ExecutionStatus;
  kind: TargetKind;
  name: string;
  /** Shown to clients as `trigger`, which is a reserved word of SQL. */
  origin: Origin;
  deployment_id: string;
  environment: string;
  /** JSON text. */
  input: string;
  /** JSON text: a list of paths. */
  unmapped: string;
  /** JSON text: the result of each entry of the field mapping; null without a mapping. */
  mapping: string | null;
  replay_of: string | null;
  /** The slug of the webhook that started it; null for other triggers. */
  webhook: string | null;
  /** JSON text. */
  output: string | null;
  /** JSON text of `{name, message, stack}`. */
  error: string | null;
  attempt: number;
  /** Lost runners and workers. */
  losses: number;
  /** The losses that count towards giving up. */
  runner_losses: number;
  /** 1 when it must run alone in its runner, because it may have ended an earlier one. */
  alone: number;
  parent_execution_id: string | null;
  parent_key: string | null;
  depth: number;
  cancel_requested: number;
  due_at: number;
  lease_owner: string | null;
  lease_until: number | null;
  created_at: number;
  /** The start of the first attempt. */
  started_at: number | null;
  /** The start of the current attempt. */
  attempt_started_at: number | null;
  finished_at: number | null;
  /** The payload of the delivery as JSON text, when a field mapping made `input` from it; null when `input` is the payload. */
  payload: string | null;
  /** The request headers of the delivery as a JSON object, without credentials; null for other triggers. */
  headers: string | null;
  /** Size of the delivery's body; null when no request to a webhook URL started the execution. */
  size_bytes: number | null;
}

/** The columns of a new execution. */
export interface NewExecution {
  org_id: string;
  execution_id: string;
  kind: TargetKind;
  name: string;
  origin: Origin;
  deployment_id: string;
  environment: string;
  input: string;
  unmapped?: string;
  mapping?: string | null;
  replay_of?: string | null;
  webhook?: string | null;
  payload?: string | null;
  headers?: string | null;
  size_bytes?: number | null;
  parent_execution_id?: string | null;
  parent_key?: string | null;
  depth?: number;
  created_at: number;
  /** Present when the accepting worker runs the execution immediately. */
  lease?: { owner: string; untilMs: number };
}

export interface ExecutionFilter {
  environment: string;
  status: string;
  name: string;
  kind: string;
  /** Unix milliseconds; 0 for all. */
  since: number;
  before: string;
  limit: number;
}

const INSERT = `INSERT INTO executions (org_id, execution_id, kind, name, origin, deployment_id, environment, input,
  unmapped, mapping, replay_of, parent_execution_id, parent_key, depth, due_at, created_at, status, lease_owner,
  lease_until, started_at, attempt_started_at, webhook, payload, headers, size_bytes)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?15, ?16, ?17, ?18, ?19, ?19, ?20, ?21, ?22, ?23)`;
/** For a webhook without a mapping: fewer parameters to bind on the hot path. */
const INSERT_WEBHOOK = `INSERT INTO executions (org_id, execution_id, kind, name, origin, deployment_id, environment,
  input, due_at, created_at, status, lease_owner, lease_until, started_at, attempt_started_at, webhook, headers, size_bytes)
VALUES (?1, ?2, ?3, ?4, 'webhook', ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?11, ?12, ?12, ?13, ?14, ?15)`;
const SELECT = "SELECT * FROM executions WHERE org_id = ? AND execution_id = ?";
const SELECT_CHILD =
  "SELECT * FROM executions WHERE org_id = ? AND parent_execution_id = ? AND parent_key = ?";
const SELECT_CHILDREN = "SELECT * FROM executions WHERE org_id = ? AND parent_execution_id = ?";
const SELECT_PAGE = `SELECT * FROM executions
WHERE org_id = ?1 AND (?2 = '' OR environment = ?2) AND (?3 = '' OR status = ?3) AND (?4 = '' OR name = ?4)
  AND (?5 = '' OR kind = ?5) AND created_at >= ?6 AND (?7 = '' OR execution_id < ?7)
ORDER BY execution_id DESC LIMIT ?8`;
const CANCEL_QUEUED = `UPDATE executions SET status = 'cancelled', cancel_requested = 1, finished_at = ?
WHERE org_id = ? AND execution_id = ? AND status = 'queued' RETURNING execution_id`;
const REQUEST_CANCEL = `UPDATE executions SET cancel_requested = 1
WHERE org_id = ? AND execution_id = ? AND status = 'running' RETURNING execution_id`;
const SELECT_ATTEMPTS = "SELECT * FROM attempts WHERE org_id = ? AND execution_id = ? ORDER BY attempt";
const COUNT_BY_STATUS = `SELECT status, COUNT(*) AS count FROM executions
WHERE org_id = ? AND created_at >= ? GROUP BY status`;

export interface AttemptRow {
  attempt: number;
  started_at: number | null;
  finished_at: number;
  error: string;
  retry_at: number | null;
}

export function* insertExecution(row: NewExecution): Program<void> {
  yield row.origin === "webhook" && row.mapping === undefined ? webhookStatement(row) : statement(row);
}

function webhookStatement(row: NewExecution): Statement {
  const { org_id, execution_id, kind, name, deployment_id, environment, input, created_at, lease } = row;
  const status = lease === undefined ? "queued" : "running";
  const startedAt = lease === undefined ? null : created_at;
  return {
    sql: INSERT_WEBHOOK,
    params: [
      org_id,
      execution_id,
      kind,
      name,
      deployment_id,
      environment,
      input,
      created_at,
      status,
      lease?.owner ?? null,
      lease?.untilMs ?? null,
      startedAt,
      row.webhook ?? null,
      row.headers ?? null,
      row.size_bytes ?? null,
    ],
  };
}

function statement(row: NewExecution): Statement {
  return {
    sql: INSERT,
    params: [
      row.org_id,
      row.execution_id,
      row.kind,
      row.name,
      row.origin,
      row.deployment_id,
      row.environment,
      row.input,
      row.unmapped ?? "[]",
      row.mapping ?? null,
      row.replay_of ?? null,
      row.parent_execution_id ?? null,
      row.parent_key ?? null,
      row.depth ?? 0,
      row.created_at,
      row.lease === undefined ? "queued" : "running",
      row.lease?.owner ?? null,
      row.lease?.untilMs ?? null,
      row.lease === undefined ? null : row.created_at,
      row.webhook ?? null,
      row.payload ?? null,
      row.headers ?? null,
      row.size_bytes ?? null,
    ],
  };
}

/** Inserts the execution and returns its id. */
export function* insertNew(row: NewExecution): Program<string> {
  yield* insertExecution(row);
  return row.execution_id;
}

/** The stored row of a new execution. */
export function toRow({ lease, ...row }: NewExecution): ExecutionRow {
  return {
    unmapped: "[]",
    mapping: null,
    replay_of: null,
    webhook: null,
    payload: null,
    headers: null,
    size_bytes: null,
    parent_execution_id: null,
    parent_key: null,
    depth: 0,
    ...row,
    status: lease === undefined ? "queued" : "running",
    output: null,
    error: null,
    attempt: 1,
    losses: 0,
    runner_losses: 0,
    alone: 0,
    cancel_requested: 0,
    due_at: row.created_at,
    lease_owner: lease?.owner ?? null,
    lease_until: lease?.untilMs ?? null,
    started_at: lease === undefined ? null : row.created_at,
    attempt_started_at: lease === undefined ? null : row.created_at,
    finished_at: null,
  };
}

export function* getExecution(orgId: string, executionId: string): Program<ExecutionRow | undefined> {
  return yield* first<ExecutionRow>(SELECT, orgId, executionId);
}

export function* getChild(orgId: string, parentId: string, key: string): Program<ExecutionRow | undefined> {
  return yield* first<ExecutionRow>(SELECT_CHILD, orgId, parentId, key);
}

export function* listChildren(orgId: string, parentId: string): Program<ExecutionRow[]> {
  return yield* all<ExecutionRow>(SELECT_CHILDREN, orgId, parentId);
}

export function* listExecutions(orgId: string, filter: ExecutionFilter): Program<ExecutionRow[]> {
  return yield* all<ExecutionRow>(
    SELECT_PAGE,
    orgId,
    filter.environment,
    filter.status,
    filter.name,
    filter.kind,
    filter.since,
    filter.before,
    filter.limit,
  );
}

/** Cancels a queued execution immediately and requests cancellation of a running one; null when it had already ended. */
export function* cancelExecution(
  orgId: string,
  executionId: string,
  nowMs: number,
): Program<"cancelled" | "requested" | null> {
  if ((yield* first(CANCEL_QUEUED, nowMs, orgId, executionId)) !== undefined) return "cancelled";
  if ((yield* first(REQUEST_CANCEL, orgId, executionId)) !== undefined) return "requested";
  return null;
}

export function* listAttempts(orgId: string, executionId: string): Program<AttemptRow[]> {
  return yield* all<AttemptRow>(SELECT_ATTEMPTS, orgId, executionId);
}

export function* countByStatus(orgId: string, sinceMs: number): Program<{ status: string; count: number }[]> {
  return yield* all<{ status: string; count: number }>(COUNT_BY_STATUS, orgId, sinceMs);
}
