/**
 * SQLite's dialect. A statement over a row set runs once for each row, as a loop without round trips, so that its text is
 * the one of a single row. Rows need no locks, because one process writes at a time.
 */
import type { Row, SqlValue } from "../engine.ts";
import { replaceRowSet, rowSetOf } from "./row-set.ts";
import {
  claimedColumns,
  type DialectStatements,
  expiringLogs,
  logConditions,
  named,
  ofExecution,
  returningChanged,
  textOf,
} from "./statements.ts";

/** `started_at` is the start of the first attempt. */
const claimExecutions = `UPDATE executions SET status = 'running', lease_owner = ?1, lease_until = ?2,
  started_at = COALESCE(started_at, ?3), attempt_started_at = ?3
WHERE (org_id, execution_id) IN (
  SELECT org_id, execution_id FROM executions
  WHERE status = 'queued' AND deployment_id = ?4 AND due_at <= ?3 ORDER BY due_at LIMIT ?5)
RETURNING ${claimedColumns.join(", ")}`;
const deleteOldLogs = `DELETE FROM logs USING ROWS(org_id text) r WHERE org_id = r.org_id AND seq IN
  (SELECT seq FROM logs WHERE ${expiringLogs} ORDER BY seq LIMIT ?2)
  AND at < ?1 RETURNING org_id`;

const logsOfExecutions = `SELECT seq FROM logs INDEXED BY logs_of_execution, ROWS(execution_id text) r
WHERE ${ofExecution} AND ${logConditions}`;

const storeSize = `SELECT page_count * page_size AS bytes, freelist_count * page_size AS free_bytes, auto_vacuum = 2 AS releases
FROM pragma_page_count, pragma_page_size, pragma_freelist_count, pragma_auto_vacuum`;
const tableSizes = `SELECT m.tbl_name AS name, SUM(s.pgsize) AS bytes FROM dbstat s JOIN sqlite_master m ON m.name = s.name
WHERE s.aggregate = TRUE GROUP BY m.tbl_name`;
/** 4 ms. A store that was created before the server set `auto_vacuum` ignores it. */
const releasePages = "PRAGMA incremental_vacuum(128)";

const statements: DialectStatements = {
  storeSize,
  tableSizes,
  releasePages,
  claimExecutions,
  deleteOldLogs,
  firstLogsOfExecutions: `${logsOfExecutions} ORDER BY seq LIMIT ?3`,
  lastLogsOfExecutions: `${logsOfExecutions} ORDER BY seq DESC LIMIT ?3`,
};

/**
 * Whether a statement returns the rows of its row set that have changed something. SQLite counts changes: RETURNING would
 * take a third of the time of the end of an execution.
 */
export function returnsChanged(sql: string): boolean {
  return sql.endsWith(returningChanged);
}

/**
 * Returns the function that makes a row of the result of a statement from its values, in the order of its columns; undefined
 * where SQLite's own rows serve. Those are dictionaries. For a claim, making them and reading their 17 columns would take a
 * third of its time.
 */
export function rowMakerOf(sql: string): ((values: readonly SqlValue[]) => Row) | undefined {
  return sql === claim ? claimedRow : undefined;
}

const claim = named("claimExecutions");

/** An object literal, so that all rows have one shape. The columns are `claimedColumns`. */
function claimedRow(values: readonly SqlValue[]): Record<(typeof claimedColumns)[number], SqlValue> {
  const at = (index: number): SqlValue => values[index] ?? null;
  return {
    org_id: at(0),
    execution_id: at(1),
    kind: at(2),
    name: at(3),
    origin: at(4),
    environment: at(5),
    input: at(6),
    response: at(7),
    attempt: at(8),
    losses: at(9),
    runner_losses: at(10),
    alone: at(11),
    depth: at(12),
    cancel_requested: at(13),
    created_at: at(14),
    due_at: at(15),
    trace: at(16),
  };
}

/** Adapts the text of a statement. With a row set, the values of a row follow the parameters. */
export function toSqlite(sql: string): string {
  const text = textOf(sql, statements).replaceAll(/\s+FOR UPDATE(?: OF \w+)?(?: SKIP LOCKED)?/g, "");
  const rowSet = rowSetOf(text);
  if (rowSet === null) return text;
  const numbers = new Map(
    rowSet.columns.map(({ name }, index) => [name, rowSet.firstParameter + index] as const),
  );
  return replaceRowSet(text.replace(returningChanged, ""), () => "").replaceAll(
    /\br\.(\w+)/g,
    (_all, name: string) => {
      const number = numbers.get(name);
      if (number === undefined) throw new Error(`Cannot use r.${name}: the row set has no such column.`);
      return `?${number}`;
    },
  );
}
