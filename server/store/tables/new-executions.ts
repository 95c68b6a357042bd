/** Inserts executions. `executions.ts` has their rows. */
import { each, notify, type Program, runEach, type SqlValue } from "../engine.ts";
import type { ExecutionKind, ExecutionRow, Origin } from "./executions.ts";

/** The columns of a new execution. */
export interface NewExecution {
  org_id: string;
  execution_id: string;
  kind: ExecutionKind;
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
  trace?: string | null;
  created_at: number;
  /** Present when the accepting worker runs the execution immediately. */
  lease?: { owner: string; untilMs: number };
}

const INSERT = `INSERT INTO executions (org_id, execution_id, kind, name, origin, deployment_id, environment, input,
  unmapped, mapping, replay_of, parent_execution_id, parent_key, depth, due_at, created_at, status, lease_owner,
  lease_until, started_at, attempt_started_at, webhook, payload, headers, size_bytes, trace)
SELECT r.org_id, r.execution_id, r.kind, r.name, r.origin, r.deployment_id, r.environment, r.input, r.unmapped, r.mapping,
  r.replay_of, r.parent_execution_id, r.parent_key, r.depth, r.created_at, r.created_at, r.status, r.lease_owner,
  r.lease_until, r.started_at, r.started_at, r.webhook, r.payload, r.headers, r.size_bytes, r.trace
FROM ROWS(org_id text, execution_id text, kind text, name text, origin text, deployment_id text, environment text,
  input text, unmapped text, mapping text, replay_of text, parent_execution_id text, parent_key text, depth int,
  created_at int, status text, lease_owner text, lease_until int, started_at int, webhook text, payload text,
  headers text, size_bytes int, trace text) r`;
/** Another call may have started the same child execution. */
const INSERT_CHILD = `${INSERT} WHERE true ON CONFLICT DO NOTHING RETURNING executions.execution_id`;
/** For webhooks without a mapping: fewer parameters to bind on the hot path. */
const INSERT_WEBHOOK = `INSERT INTO executions (org_id, execution_id, kind, name, origin, deployment_id, environment,
  input, due_at, created_at, status, lease_owner, lease_until, started_at, attempt_started_at, webhook, headers, size_bytes)
SELECT r.org_id, r.execution_id, r.kind, r.name, 'webhook', r.deployment_id, r.environment, r.input, r.created_at,
  r.created_at, r.status, r.lease_owner, r.lease_until, r.started_at, r.started_at, r.webhook, r.headers, r.size_bytes
FROM ROWS(org_id text, execution_id text, kind text, name text, deployment_id text, environment text, input text,
  created_at int, status text, lease_owner text, lease_until int, started_at int, webhook text, headers text,
  size_bytes int) r`;
const INSERT_TRACED_WEBHOOK = INSERT_WEBHOOK.replace("size_bytes)", "size_bytes, trace)")
  .replace("r.size_bytes", "r.size_bytes, r.trace")
  .replace("size_bytes int)", "size_bytes int, trace text)");

export function* insertExecution(row: NewExecution): Program<void> {
  yield* insertExecutions([row]);
}

/** Inserts executions, and wakes the workers when some are queued. */
export function* insertExecutions(rows: readonly NewExecution[]): Program<void> {
  const webhooks: SqlValue[][] = [];
  const traced: SqlValue[][] = [];
  const others: SqlValue[][] = [];
  for (const row of rows) {
    if (row.origin === "webhook" && row.mapping === undefined) {
      const { trace = null } = row;
      if (trace === null) webhooks.push(webhookValues(row));
      else traced.push([...webhookValues(row), trace]);
    } else others.push(values(row));
  }
  if (webhooks.length > 0) yield* runEach(INSERT_WEBHOOK, webhooks);
  if (traced.length > 0) yield* runEach(INSERT_TRACED_WEBHOOK, traced);
  if (others.length > 0) yield* runEach(INSERT, others);
  yield* notifyQueued(rows);
}

/** Inserts a child execution unless its parent has one with this key. @returns whether it was inserted */
export function* insertChild(row: NewExecution): Program<boolean> {
  const inserted = (yield* each(INSERT_CHILD, [values(row)])).length > 0;
  if (inserted) yield* notifyQueued([row]);
  return inserted;
}

function* notifyQueued(rows: readonly NewExecution[]): Program<void> {
  const deployments = new Set<string>();
  for (const { lease, deployment_id } of rows) if (lease === undefined) deployments.add(deployment_id);
  for (const deploymentId of deployments) yield* notify("queued", deploymentId);
}

function webhookValues(row: NewExecution): SqlValue[] {
  const { lease } = row;
  return [
    row.org_id,
    row.execution_id,
    row.kind,
    row.name,
    row.deployment_id,
    row.environment,
    row.input,
    row.created_at,
    lease === undefined ? "queued" : "running",
    lease?.owner ?? null,
    lease?.untilMs ?? null,
    lease === undefined ? null : row.created_at,
    row.webhook ?? null,
    row.headers ?? null,
    row.size_bytes ?? null,
  ];
}

function values(row: NewExecution): SqlValue[] {
  const { lease } = row;
  return [
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
    lease === undefined ? "queued" : "running",
    lease?.owner ?? null,
    lease?.untilMs ?? null,
    lease === undefined ? null : row.created_at,
    row.webhook ?? null,
    row.payload ?? null,
    row.headers ?? null,
    row.size_bytes ?? null,
    row.trace ?? null,
  ];
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
    trace: null,
    ...row,
    status: lease === undefined ? "queued" : "running",
    output: null,
    error: null,
    response: null,
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
