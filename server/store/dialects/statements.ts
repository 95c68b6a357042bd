/**
 * SQL text that both engines run. Statements are written once: parameters are `?1`, `?2`, and so on; a row set is
 * `ROWS(…) r` (`row-set.ts`); `FOR UPDATE` clauses lock rows on PostgreSQL; `INDEXED BY` names an index that SQLite must use
 * where it would read all rows of an organization. Each dialect adapts the text when it is prepared.
 * Statements on which the dialects do not agree are named here, and each dialect has its text.
 */
export interface DialectStatements {
  /** Claims up to ?5 due executions of deployment ?4 for owner ?1 until ?2; ?3 is the time. Returns `claimedColumns`. */
  claimExecutions: string;
  /** Deletes `expiringLogs` from before ?1 of the organizations of a row set, up to ?2 of each; ?3 is the time. */
  deleteOldLogs: string;
  /** The numbers of up to ?3 matching log entries of each execution of a row set, the lowest ones. */
  firstLogsOfExecutions: string;
  /** Like `firstLogsOfExecutions`, the highest ones. */
  lastLogsOfExecutions: string;
  /** Returns the store's `bytes`, its `free_bytes`, and whether it `releases` them: null where the engine does that itself. */
  storeSize: string;
  /** Returns the `bytes` of each table with its indexes, by `name`. */
  tableSizes: string;
  /** Returns a small part of the free pages of the file to the file system. */
  releasePages: string;
}

/** Filters of ?11 and the following parameters, each of three forms of a field. */
export const logFieldFilters = 4;

/**
 * The conditions of a filter of log entries: numbers above ?2 up to ?4, and the parameters ?5 to ?22, which are empty or 0
 * where they do not matter.
 */
export const logConditions: string = `org_id = ?1 AND seq > ?2 AND seq <= ?4 AND (?5 = '' OR name = ?5)
  AND (?6 = '' OR environment = ?6) AND (source = 'audit') = (?7 = 1) AND (?8 = '' OR instr(?8, level) > 0) AND at >= ?9
  AND (?10 = '' OR instr(message, ?10) > 0 OR instr(fields, ?10) > 0)${Array.from(
    { length: logFieldFilters },
    (_, index) => {
      const [first, ...forms] = [0, 1, 2].map((form) => `?${11 + 3 * index + form}`);
      const others = forms.map((form) => ` OR instr(fields, ${form}) > 0`).join("");
      return `\n  AND (${first} = '' OR instr(fields, ${first}) > 0${others})`;
    },
  ).join("")}`;

/** The condition of the index of log entries by execution. */
export const ofExecution = "execution_id = r.execution_id AND source IN ('console', 'execution')";

/**
 * The log entries of an organization that expire: not the audit log, and not those of executions, which are deleted with
 * them. Entries are numbered nearly in the order of their times, so that only those before the first one that is still kept
 * are read. A time in the future is of a wrong clock.
 */
export const expiringLogs = `logs.org_id = r.org_id AND logs.source <> 'audit'
  AND (logs.execution_id IS NULL OR logs.source NOT IN ('console', 'execution'))
  AND logs.seq < COALESCE((SELECT kept.seq FROM logs kept WHERE kept.org_id = r.org_id AND kept.at BETWEEN ?1 AND ?3
    ORDER BY kept.seq LIMIT 1), 9223372036854775807)`;

/**
 * Ends a statement that returns the column `at` of each row of its row set that has changed a row of the table. It must be
 * the first column of the row set.
 */
export const returningChanged = "RETURNING r.at AS at";

/** The columns that a claim sets to the same value for all its executions. */
export const claimColumns = ["deployment_id", "lease_owner", "lease_until", "attempt_started_at"] as const;

/**
 * What a worker needs of an execution that it runs, without `claimColumns`. Each column takes part of the time of a claim:
 * 21 columns took half of it, and the rest, such as headers, would double it.
 */
export const claimedColumns = [
  "org_id",
  "execution_id",
  "kind",
  "name",
  "origin",
  "environment",
  "input",
  "response",
  "attempt",
  "losses",
  "runner_losses",
  "alone",
  "depth",
  "cancel_requested",
  "created_at",
  "due_at",
  "trace",
] as const;

const mark = "named ";

/** Stands for a named statement where SQL text is expected. */
export function named(name: keyof DialectStatements): string {
  return mark + name;
}

/** The text of a named statement; other text as it is. */
export function textOf(sql: string, statements: DialectStatements): string {
  if (!sql.startsWith(mark)) return sql;
  const text: string | undefined = statements[sql.slice(mark.length) as keyof DialectStatements];
  if (text === undefined) throw new Error(`There is no statement '${sql}'.`);
  return text;
}
