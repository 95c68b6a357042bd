/**
 * The log of an organization: entries that agents, the executor and the services write, numbered in the order written.
 *
 * The number of the newest entry is a row of its own, which the transaction of new entries changes. The row lock makes
 * transactions commit in the order of their numbers, so that a reader that has seen an entry has seen all earlier ones.
 */
import { logConditions, logFieldFilters, named, ofExecution } from "../dialects/statements.ts";
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
  /** JSON text of an object. */
  fields?: string | null;
}

export interface LogRow extends NewLog {
  /** Position in the organization's log, from 1. */
  seq: number;
}

export interface LogFilter {
  name: string;
  environment: string;
  /** True selects the audit log, false all other entries. */
  audit: boolean;
  /** Only entries of these executions; empty for the whole log. */
  executionIds: readonly string[];
  /** The accepted levels, separated by spaces; empty for all. */
  levels: string;
  /** Unix milliseconds; 0 for all. */
  sinceMs: number;
  /** A part of the message or of the fields as JSON; empty for all. */
  contains: string;
  /** At most `logFieldFilters`. */
  fields: readonly FieldForms[];
}

/** The texts of which the JSON of matching fields contains one. */
export type FieldForms = readonly [string, string, string];

/** The filter that matches the whole log, without the audit log. */
export const allLogs: LogFilter = {
  name: "",
  environment: "",
  audit: false,
  executionIds: [],
  levels: "",
  sinceMs: 0,
  contains: "",
  fields: [],
};

/** Numbers of entries: above the first, up to the second. */
export interface LogRange {
  above: number;
  upTo: number;
}

const EXTEND = `INSERT INTO log_ends (org_id, seq) SELECT r.org_id, r.count FROM ROWS(org_id text, count int) r WHERE true
ON CONFLICT (org_id) DO UPDATE SET seq = log_ends.seq + excluded.seq RETURNING log_ends.org_id, log_ends.seq`;
const INSERT = `INSERT INTO logs (org_id, seq, at, level, source, message, execution_id, deployment_id, name, environment,
  fields)
SELECT r.org_id, r.seq, r.at, r.level, r.source, r.message, r.execution_id, r.deployment_id, r.name, r.environment,
  r.fields
FROM ROWS(org_id text, seq int, at int, level text, source text, message text, execution_id text, deployment_id text,
  name text, environment text, fields text) r`;
const SELECT_END = "SELECT seq FROM log_ends WHERE org_id = ?1";
const SELECT_NEXT = "SELECT seq, at FROM logs WHERE org_id = ?1 AND seq > ?2 ORDER BY seq LIMIT 1";
const SELECT_FIRST = `SELECT * FROM logs WHERE ${logConditions} ORDER BY seq LIMIT ?3`;
const SELECT_LAST = `SELECT * FROM logs WHERE ${logConditions} ORDER BY seq DESC LIMIT ?3`;
const OF_ONE = ofExecution.replace("r.execution_id", "?23");
const SELECT_OF_ONE = `SELECT * FROM logs INDEXED BY logs_of_execution WHERE ${OF_ONE} AND ${logConditions}`;
const SELECT_FIRST_OF_ONE = `${SELECT_OF_ONE} ORDER BY seq LIMIT ?3`;
const SELECT_LAST_OF_ONE = `${SELECT_OF_ONE} ORDER BY seq DESC LIMIT ?3`;
const SELECT_NUMBERED =
  "SELECT logs.* FROM logs, ROWS(seq int) r WHERE logs.org_id = ?1 AND logs.seq = r.seq";

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
    const fields = row.fields ?? null;
    return [org_id, seq, at, level, source, message, execution_id, deployment_id, name, environment, fields];
  });
  yield* runEach(INSERT, numbered);
  for (const [orgId] of sorted) yield* notify("log", orgId);
}

/** The first `limit` matching entries of a range, oldest first. */
export function* firstLogs(
  orgId: string,
  filter: LogFilter,
  range: LogRange,
  limit: number,
): Program<LogRow[]> {
  return yield* select("first", orgId, filter, range, limit);
}

/** The last `limit` matching entries of a range, oldest first. */
export function* lastLogs(
  orgId: string,
  filter: LogFilter,
  range: LogRange,
  limit: number,
): Program<LogRow[]> {
  return (yield* select("last", orgId, filter, range, limit)).reverse();
}

const sql = {
  first: { all: SELECT_FIRST, ofOne: SELECT_FIRST_OF_ONE, ofMany: named("firstLogsOfExecutions") },
  last: { all: SELECT_LAST, ofOne: SELECT_LAST_OF_ONE, ofMany: named("lastLogsOfExecutions") },
} as const;

function* select(
  end: keyof typeof sql,
  orgId: string,
  filter: LogFilter,
  { above, upTo }: LogRange,
  limit: number,
): Program<LogRow[]> {
  const { name, environment, audit, executionIds, levels, sinceMs, contains, fields } = filter;
  const forms = Array.from({ length: logFieldFilters }, (_, index) => fields[index] ?? ["", "", ""]);
  const params = [
    ...[orgId, above, limit, upTo, name, environment, audit ? 1 : 0, levels, sinceMs, contains],
    ...forms.flat(),
  ];
  const { all: whole, ofOne, ofMany } = sql[end];
  const [first, ...others] = executionIds;
  if (first === undefined) return yield* all<LogRow>(whole, ...params);
  if (others.length === 0) return yield* all<LogRow>(ofOne, ...params, first);
  // Numbers first: of each execution there may be as many entries as are wanted of all.
  const ids = executionIds.map((id) => [id]);
  const found = yield* each<{ seq: number }>(ofMany, ids, ...params);
  const direction = end === "first" ? 1 : -1;
  const numbers = found.toSorted((a, b) => direction * (a.seq - b.seq)).slice(0, limit);
  const rows = yield* each<LogRow>(
    SELECT_NUMBERED,
    numbers.map(({ seq }) => [seq]),
    orgId,
  );
  return rows.toSorted((a, b) => direction * (a.seq - b.seq));
}

/** The number of an organization's newest entry; 0 when the log is empty. */
export function* logEnd(orgId: string): Program<number> {
  return (yield* first<{ seq: number }>(SELECT_END, orgId))?.seq ?? 0;
}

/** Entries are numbered nearly in the order of their times: clocks differ, and entries wait to be written. */
const maxDisorderMs = 600_000;
const searchPrecision = 500;

/** A number above which are all entries since a time, and few earlier ones. 0 is the time before all entries. */
export function* logStart(orgId: string, sinceMs: number, end: number): Program<number> {
  const oldest = yield* first<{ seq: number; at: number }>(SELECT_NEXT, orgId, 0);
  let low = (oldest?.seq ?? end + 1) - 1;
  if (sinceMs === 0) return low;
  let high = end;
  while (high - low > searchPrecision) {
    const middle = Math.floor((low + high) / 2);
    const next = yield* first<{ seq: number; at: number }>(SELECT_NEXT, orgId, middle);
    if (next === undefined || next.seq > high || next.at >= sinceMs - maxDisorderMs) high = middle;
    else low = next.seq;
  }
  return low;
}
