/**
 * SQL text that both engines run. Statements are written once: parameters are `?1`, `?2`, and so on; a row set is
 * `ROWS(…) r` (`row-set.ts`); `FOR UPDATE` clauses lock rows on PostgreSQL. Each dialect adapts the text when it is prepared.
 * Statements on which the dialects do not agree are named here, and each dialect has its text.
 */
export interface DialectStatements {
  /** Claims up to ?5 due executions of deployment ?4 for owner ?1 until ?2; ?3 is the time. Returns `claimedColumns`. */
  claimExecutions: string;
  /** Deletes log entries from before ?1 of the organizations of a row set, of ?2 entries of each at most. */
  deleteOldLogs: string;
}

/** What a worker needs of an execution that it runs. The rest, such as headers, would double the cost of a claim. */
export const claimedColumns = [
  "org_id",
  "execution_id",
  "kind",
  "name",
  "origin",
  "deployment_id",
  "environment",
  "input",
  "response",
  "attempt",
  "losses",
  "runner_losses",
  "alone",
  "depth",
  "cancel_requested",
  "lease_owner",
  "lease_until",
  "attempt_started_at",
  "created_at",
  "due_at",
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
