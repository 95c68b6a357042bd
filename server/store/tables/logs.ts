/**
 * The log of an organization: entries that agents, the executor and the services write, numbered in the order written.
 *
 * The number of the newest entry is a row of its own, which the transaction of new entries changes. The row lock makes
 * transactions commit in the order of their numbers, so that a reader that has seen an entry has seen all earlier ones.
 */
import { all, each, first, notify, type Program, runEach } from "../engine.ts";

type LogLevel = "debug" | "info" | "warn" | "error";
type LogSource = "console" | "execution" | "schedule" | "deployment" | "audit";

export interface NewLog {
  org_id: string;
  at: number;
  level: LogLevel;
  source: LogSource;
  message: string;
  execution_id: string | null;
  deployment_id: string | null;
  name: string | null;
  environment: string | null;
}

export interface LogRow extends NewLog {
  /** Position in the organization's log, from 1. */
  seq: number;
}

export interface LogFilter {
  name: string;
  executionId: string;
  environment: string;
  /** True selects the audit log, false all other entries. */
  audit: boolean;
}

const EXTEND = `INSERT INTO log_ends (org_id, seq) SELECT r.org_id, r.count FROM ROWS(org_id text, count int) r WHERE true
ON CONFLICT (org_id) DO UPDATE SET seq = log_ends.seq + excluded.seq RETURNING log_ends.org_id, log_ends.seq`;
const INSERT = `INSERT INTO logs (org_id, seq, at, level, source, message, execution_id, deployment_id, name, environment)
SELECT r.org_id, r.seq, r.at, r.level, r.source, r.message, r.execution_id, r.deployment_id, r.name, r.environment
FROM ROWS(org_id text, seq int, at int, level text, source text, message text, execution_id text, deployment_id text,
  name text, environment text) r`;
const SELECT_END = "SELECT seq FROM log_ends WHERE org_id = ?1";
const MATCHES = `org_id = ?1 AND seq > ?2 AND (?4 = '' OR name = ?4) AND (?5 = '' OR environment = ?5)
  AND (source = 'audit') = (?6 = 1)`;
/** The condition of the index on `execution_id`. */
const OF_EXECUTION = "execution_id = ?7 AND source IN ('console', 'execution')";
const SELECT_LAST = `SELECT * FROM logs WHERE ${MATCHES} ORDER BY seq DESC LIMIT ?3`;
const SELECT_LAST_OF_EXECUTION = `SELECT * FROM logs WHERE ${OF_EXECUTION} AND ${MATCHES} ORDER BY seq DESC LIMIT ?3`;
const SELECT_AFTER = `SELECT * FROM logs WHERE ${MATCHES} ORDER BY seq LIMIT ?3`;
const SELECT_AFTER_OF_EXECUTION = `SELECT * FROM logs WHERE ${OF_EXECUTION} AND ${MATCHES} ORDER BY seq LIMIT ?3`;

/**
 * Appends entries, each at the end of its organization's log. Call it last in a program: it locks the log of the
 * organization until the commit.
 */
export function* insertLogs(rows: readonly NewLog[]): Program<void> {
  if (rows.length === 0) return;
  const counts = new Map<string, number>();
  for (const { org_id } of rows) counts.set(org_id, (counts.get(org_id) ?? 0) + 1);
  // In one order, so that two transactions do not wait for each other.
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  const next = new Map<string, number>();
  for (const { org_id, seq } of yield* each<{ org_id: string; seq: number }>(EXTEND, sorted)) {
    next.set(org_id, seq - (counts.get(org_id) ?? 0) + 1);
  }
  const numbered = rows.map((row) => {
    const seq = next.get(row.org_id) ?? 0;
    next.set(row.org_id, seq + 1);
    const { org_id, at, level, source, message, execution_id, deployment_id, name, environment } = row;
    return [org_id, seq, at, level, source, message, execution_id, deployment_id, name, environment];
  });
  yield* runEach(INSERT, numbered);
  for (const [orgId] of sorted) yield* notify("log", orgId);
}

/** The last matching entries, oldest first. */
function* lastLogs(orgId: string, filter: LogFilter, limit: number): Program<LogRow[]> {
  const rows = yield* select(SELECT_LAST, SELECT_LAST_OF_EXECUTION, orgId, filter, 0, limit);
  return rows.reverse();
}

export interface LogPage {
  /** Oldest first. */
  rows: LogRow[];
  /** No other entry up to here matches. */
  seq: number;
}

/** The first `limit` matching entries after a position. */
export function* logsAfter(
  orgId: string,
  filter: LogFilter,
  afterSeq: number,
  limit: number,
): Program<LogPage> {
  // The end is read first: entries may be added between two statements.
  const end = yield* logEnd(orgId);
  if (end <= afterSeq) return { rows: [], seq: afterSeq };
  const rows = yield* select(SELECT_AFTER, SELECT_AFTER_OF_EXECUTION, orgId, filter, afterSeq, limit);
  const last = rows.at(-1)?.seq ?? 0;
  return { rows, seq: rows.length < limit ? Math.max(last, end) : last };
}

function* select(
  sql: string,
  sqlOfExecution: string,
  orgId: string,
  filter: LogFilter,
  afterSeq: number,
  limit: number,
): Program<LogRow[]> {
  const { name, environment, executionId, audit } = filter;
  const params = [orgId, afterSeq, limit, name, environment, audit ? 1 : 0] as const;
  return executionId === ""
    ? yield* all<LogRow>(sql, ...params)
    : yield* all<LogRow>(sqlOfExecution, ...params, executionId);
}

/** The position of an organization's newest entry; 0 when the log is empty. */
function* logEnd(orgId: string): Program<number> {
  return (yield* first<{ seq: number }>(SELECT_END, orgId))?.seq ?? 0;
}

/** The last matching entries, oldest first, and the position after which later entries follow. */
export function* logTail(
  orgId: string,
  filter: LogFilter,
  limit: number,
): Program<{ rows: LogRow[]; after: number }> {
  // The end comes first: an entry that arrives between the two statements is one of the rows.
  const end = yield* logEnd(orgId);
  const rows = yield* lastLogs(orgId, filter, limit);
  return { rows, after: Math.max(end, rows.at(-1)?.seq ?? 0) };
}
