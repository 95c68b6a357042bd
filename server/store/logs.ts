/** The log of an organization: entries that agents, the executor and the services write, numbered in the order written. */
import { all, first, type Program, run } from "./engine.ts";

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

const INSERT = `INSERT INTO logs (org_id, seq, at, level, source, message, execution_id, deployment_id, name, environment)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const SELECT_END = "SELECT COALESCE(MAX(seq), 0) AS seq FROM logs WHERE org_id = ?";
const MATCHES = `org_id = ?1 AND seq > ?2 AND (?4 = '' OR name = ?4) AND (?5 = '' OR environment = ?5)
  AND (source = 'audit') = ?6`;
/** The condition of the index on `execution_id`. */
const OF_EXECUTION = "execution_id = ?7 AND source IN ('console', 'execution')";
const SELECT_LAST = `SELECT * FROM logs WHERE ${MATCHES} ORDER BY seq DESC LIMIT ?3`;
const SELECT_LAST_OF_EXECUTION = `SELECT * FROM logs WHERE ${OF_EXECUTION} AND ${MATCHES} ORDER BY seq DESC LIMIT ?3`;
const SELECT_AFTER = `SELECT * FROM logs WHERE ${MATCHES} ORDER BY seq LIMIT ?3`;
const SELECT_AFTER_OF_EXECUTION = `SELECT * FROM logs WHERE ${OF_EXECUTION} AND ${MATCHES} ORDER BY seq LIMIT ?3`;

/** Appends entries, each at the end of its organization's log. */
export function* insertLogs(rows: readonly NewLog[]): Program<void> {
  const ends = new Map<string, number>();
  for (const row of rows) {
    const end = ends.get(row.org_id) ?? (yield* logEnd(row.org_id));
    ends.set(row.org_id, end + 1);
    yield* run(
      INSERT,
      row.org_id,
      end + 1,
      row.at,
      row.level,
      row.source,
      row.message,
      row.execution_id,
      row.deployment_id,
      row.name,
      row.environment,
    );
  }
}

/** The last matching entries, oldest first. */
export function* lastLogs(orgId: string, filter: LogFilter, limit: number): Program<LogRow[]> {
  const rows = yield* select(SELECT_LAST, SELECT_LAST_OF_EXECUTION, orgId, filter, 0, limit);
  return rows.reverse();
}

/** The first `limit` matching entries after a position, oldest first. */
export function* logsAfter(
  orgId: string,
  filter: LogFilter,
  afterSeq: number,
  limit: number,
): Program<LogRow[]> {
  return yield* select(SELECT_AFTER, SELECT_AFTER_OF_EXECUTION, orgId, filter, afterSeq, limit);
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
export function* logEnd(orgId: string): Program<number> {
  return (yield* first<{ seq: number }>(SELECT_END, orgId))?.seq ?? 0;
}
