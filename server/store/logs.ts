/** The log of an organization: what users' code prints, and what the service did with it. */
import { all, first, type Program, run } from "./engine.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogSource = "console" | "execution" | "webhook" | "schedule" | "deployment" | "audit";

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
  seq: number;
}

export interface LogFilter {
  name: string;
  executionId: string;
  environment: string;
  /** The audit trail alone, or everything but it. */
  audit: boolean;
}

const INSERT = `INSERT INTO logs (org_id, seq, at, level, source, message, execution_id, deployment_id, name, environment)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const MATCHES = "(?3 = '' OR name = ?3) AND (?4 = '' OR environment = ?4) AND (source = 'audit') = ?5";
const SELECT_LAST = `SELECT * FROM logs WHERE org_id = ?1 AND ${MATCHES} ORDER BY seq DESC LIMIT ?2`;
/** What the index of an execution's lines holds; a webhook's line costs one tree less that way. */
const OWN_LINES = "source IN ('console', 'execution')";
const SELECT_LAST_OF_EXECUTION = `SELECT * FROM logs WHERE org_id = ?1 AND execution_id = ?6 AND ${OWN_LINES} AND ${MATCHES}
ORDER BY seq DESC LIMIT ?2`;
const SELECT_AFTER = `SELECT * FROM logs WHERE org_id = ?1 AND seq > ?6 AND ${MATCHES} ORDER BY seq LIMIT ?2`;
const SELECT_AFTER_OF_EXECUTION = `SELECT * FROM logs WHERE org_id = ?1 AND execution_id = ?7 AND seq > ?6
  AND ${OWN_LINES} AND ${MATCHES}
ORDER BY seq LIMIT ?2`;
const SELECT_END = "SELECT COALESCE(MAX(seq), 0) AS seq FROM logs WHERE org_id = ?";

/** Appends lines, each at the end of its organization's log. */
export function* insertLogs(rows: readonly NewLog[]): Program<void> {
  const ends = new Map<string, number>();
  for (const row of rows) {
    const end = ends.get(row.org_id) ?? (yield* endOf(row.org_id));
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

/** The last lines that match, oldest first, and the cursor of the newest line of all, from which to go on. */
export function* lastLogs(
  orgId: string,
  filter: LogFilter,
  limit: number,
): Program<{ rows: LogRow[]; end: number }> {
  const audit = filter.audit ? 1 : 0;
  const end = yield* endOf(orgId);
  const rows =
    filter.executionId === ""
      ? yield* all<LogRow>(SELECT_LAST, orgId, limit, filter.name, filter.environment, audit)
      : yield* all<LogRow>(
          SELECT_LAST_OF_EXECUTION,
          orgId,
          limit,
          filter.name,
          filter.environment,
          audit,
          filter.executionId,
        );
  return { rows: rows.reverse(), end };
}

/** The first lines after a cursor that match, oldest first. */
export function* logsAfter(
  orgId: string,
  filter: LogFilter,
  after: number,
  limit: number,
): Program<LogRow[]> {
  const audit = filter.audit ? 1 : 0;
  if (filter.executionId === "") {
    return yield* all<LogRow>(SELECT_AFTER, orgId, limit, filter.name, filter.environment, audit, after);
  }
  return yield* all<LogRow>(
    SELECT_AFTER_OF_EXECUTION,
    orgId,
    limit,
    filter.name,
    filter.environment,
    audit,
    after,
    filter.executionId,
  );
}

function* endOf(orgId: string): Program<number> {
  return (yield* first<{ seq: number }>(SELECT_END, orgId))?.seq ?? 0;
}
