/**
 * Executions: one table is both the record and the queue. `new-executions.ts` inserts them, and `leases.ts` has the
 * statements of workers.
 */
import type { TargetKind } from "../../../project/definition.ts";
import { firstOrderedId } from "../../ids.ts";
import { all, each, first, notify, type Program } from "../engine.ts";

export type ExecutionStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled";
export type Origin = "webhook" | "schedule" | "run" | "replay" | "child" | "failure";
/** An `alert` is a request to the webhook of `on_failure`. */
export type ExecutionKind = TargetKind | "alert";

export interface ExecutionRow {
  org_id: string;
  execution_id: string;
  status: ExecutionStatus;
  kind: ExecutionKind;
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
  /** The response that the code has set, as JSON text of `{status, headers, body}`; null when it has set none. */
  response: string | null;
  /** The context of the trace that it belongs to: a traceparent and, after a space, a tracestate. */
  trace: string | null;
}

/** An execution without its values. */
export type ExecutionSummary = Omit<
  ExecutionRow,
  "input" | "output" | "unmapped" | "mapping" | "payload" | "headers" | "response" | "trace"
>;

export interface ExecutionFilter {
  environment: string;
  status: string;
  name: string;
  kind: string;
  origin: string;
  /** Unix milliseconds; 0 for all. */
  since: number;
  /** Unix milliseconds; 0 for all. */
  until: number;
  /** A part of the id, of the error or of the start of the input; empty for all. */
  contains: string;
}

/** The ids of a part of the list: the lowest and one above the highest. */
export interface IdRange {
  from: string;
  below: string;
}

const SELECT = "SELECT * FROM executions WHERE org_id = ?1 AND execution_id = ?2";
const SELECT_CHILD =
  "SELECT * FROM executions WHERE org_id = ?1 AND parent_execution_id = ?2 AND parent_key = ?3";
const LOCK_RUNNING = `SELECT 1 AS running FROM executions
WHERE org_id = ?1 AND execution_id = ?2 AND status = 'running' AND cancel_requested = 0 FOR UPDATE`;
const SELECT_OPEN_CHILDREN = `SELECT executions.execution_id
FROM executions INDEXED BY one_child_of_key, ROWS(parent_id text) r
WHERE executions.org_id = ?1 AND executions.parent_execution_id = r.parent_id
  AND executions.status IN ('queued', 'running')`;
/** Characters of an input that a search reads. */
const searchedInput = 16_384;
/** `error` and `input` are JSON: ?12 is the text as it is within a string of JSON. */
const CONTAINS = `(?11 = '' OR instr(execution_id, ?11) > 0 OR instr(error, ?12) > 0 OR instr(error, ?11) > 0
  OR instr(substr(input, 1, ${searchedInput}), ?12) > 0 OR instr(substr(input, 1, ${searchedInput}), ?11) > 0)`;
const SELECT_PAGE = `SELECT * FROM executions
WHERE org_id = ?1 AND execution_id >= ?2 AND execution_id < ?3 AND (?5 = '' OR environment = ?5)
  AND (?6 = '' OR status = ?6) AND (?7 = '' OR name = ?7) AND (?8 = '' OR kind = ?8) AND (?9 = '' OR origin = ?9)
  AND (?10 = 0 OR created_at < ?10) AND created_at >= ?13 AND ${CONTAINS}
ORDER BY execution_id DESC LIMIT ?4`;
const SELECT_LAST_OF_PART = `SELECT execution_id FROM executions
WHERE org_id = ?1 AND execution_id >= ?2 AND execution_id < ?3 ORDER BY execution_id DESC LIMIT 1 OFFSET ?4`;
/** The columns without those whose values may be large. */
export const SUMMARY = `org_id, execution_id, status, kind, name, origin, deployment_id, environment, replay_of, webhook,
  error, attempt, losses, runner_losses, alone, parent_execution_id, parent_key, depth, cancel_requested, due_at,
  lease_owner, lease_until, created_at, started_at, attempt_started_at, finished_at, size_bytes`;
const SELECT_SUMMARIES = SELECT_PAGE.replace("*", SUMMARY);
/** One statement for both states: between two, an execution could change from one to the other. */
const CANCEL = `UPDATE executions SET cancel_requested = 1,
  finished_at = CASE WHEN executions.status = 'queued' THEN ?2 ELSE executions.finished_at END,
  status = CASE WHEN executions.status = 'queued' THEN 'cancelled' ELSE executions.status END
FROM ROWS(execution_id text) r
WHERE executions.org_id = ?1 AND executions.execution_id = r.execution_id AND executions.status IN ('queued', 'running')
RETURNING executions.execution_id, executions.status, executions.kind, executions.origin, executions.environment,
  executions.created_at`;
const SELECT_ATTEMPTS = "SELECT * FROM attempts WHERE org_id = ?1 AND execution_id = ?2 ORDER BY attempt";
const COUNT_BY_STATUS = `SELECT status, COUNT(*) AS count FROM executions
WHERE org_id = ?1 AND created_at >= ?2 GROUP BY status`;

export interface AttemptRow {
  execution_id: string;
  attempt: number;
  started_at: number | null;
  finished_at: number;
  error: string;
  retry_at: number | null;
}

export function* getExecution(orgId: string, executionId: string): Program<ExecutionRow | undefined> {
  return yield* first<ExecutionRow>(SELECT, orgId, executionId);
}

/** Locks an execution. @returns whether it runs and its cancellation was not requested */
export function* lockRunning(orgId: string, executionId: string): Program<boolean> {
  return (yield* first(LOCK_RUNNING, orgId, executionId)) !== undefined;
}

export function* getChild(orgId: string, parentId: string, key: string): Program<ExecutionRow | undefined> {
  return yield* first<ExecutionRow>(SELECT_CHILD, orgId, parentId, key);
}

/** The ids of child executions that have not ended. */
export function* listOpenChildren(orgId: string, parentIds: readonly string[]): Program<string[]> {
  const parents = parentIds.map((id) => [id]);
  return (yield* each<{ execution_id: string }>(SELECT_OPEN_CHILDREN, parents, orgId)).map(
    (row) => row.execution_id,
  );
}

/** Matching executions of a range of ids, newest first. */
export function* listExecutions(
  orgId: string,
  filter: ExecutionFilter,
  range: IdRange,
  limit: number,
): Program<ExecutionRow[]> {
  return yield* all<ExecutionRow>(SELECT_PAGE, ...pageParameters(orgId, filter, range, limit));
}

export function* listExecutionSummaries(
  orgId: string,
  filter: ExecutionFilter,
  range: IdRange,
  limit: number,
): Program<ExecutionSummary[]> {
  return yield* all<ExecutionSummary>(SELECT_SUMMARIES, ...pageParameters(orgId, filter, range, limit));
}

/** The id of the execution that ends a part of `size` executions of a range; empty when the range has fewer. */
export function* lastOfPart(orgId: string, { from, below }: IdRange, size: number): Program<string> {
  const row = yield* first<{ execution_id: string }>(SELECT_LAST_OF_PART, orgId, from, below, size - 1);
  return row?.execution_id ?? "";
}

/** Sorts after every id. */
const endOfIds = "~";
/** Within a process, ids increase although times of executions may be a little earlier. */
const maxIdLeadMs = 60_000;

/**
 * The ids of executions that were accepted within a time.
 *
 * @param before - the last id of the previous page; empty for the first page
 */
export function idRange({ since, until }: Pick<ExecutionFilter, "since" | "until">, before: string): IdRange {
  const below = until === 0 ? endOfIds : firstOrderedId("exe", until + maxIdLeadMs);
  const isWithin = before !== "" && before < below;
  return { from: firstOrderedId("exe", Math.max(since, 0)), below: isWithin ? before : below };
}

function pageParameters(
  orgId: string,
  filter: ExecutionFilter,
  { from, below }: IdRange,
  limit: number,
): (string | number)[] {
  const { environment, status, name, kind, origin, since, until, contains } = filter;
  const inJson = JSON.stringify(contains).slice(1, -1);
  return [orgId, from, below, limit, environment, status, name, kind, origin, until, contains, inJson, since];
}

export type CancelledRow = Pick<
  ExecutionRow,
  "execution_id" | "status" | "kind" | "origin" | "environment" | "created_at"
>;

/** Cancels queued executions immediately and requests the cancellation of running ones; ended ones do not change. */
export function* cancelExecutions(
  orgId: string,
  executionIds: readonly string[],
  nowMs: number,
): Program<CancelledRow[]> {
  const ids = executionIds.map((id) => [id]);
  const rows = yield* each<CancelledRow>(CANCEL, ids, orgId, nowMs);
  for (const row of rows) {
    yield* notify(row.status === "running" ? "cancel" : "execution", row.execution_id);
  }
  return rows;
}

export function* listAttempts(orgId: string, executionId: string): Program<AttemptRow[]> {
  return yield* all<AttemptRow>(SELECT_ATTEMPTS, orgId, executionId);
}

export function* countByStatus(orgId: string, sinceMs: number): Program<{ status: string; count: number }[]> {
  return yield* all<{ status: string; count: number }>(COUNT_BY_STATUS, orgId, sinceMs);
}
