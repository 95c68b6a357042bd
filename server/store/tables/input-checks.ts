/**
 * Requests to check the input of a new execution with the schema of its target. A process that runs no users' code writes
 * a request; a worker claims it and writes the result. Without a result in time the execution is accepted, so that a
 * request of a worker that has ended is not claimed again.
 */
import { all, each, first, notify, type Program, run } from "../engine.ts";

export interface InputCheckRow {
  org_id: string;
  check_id: string;
  deployment_id: string;
  /** Path in the package. */
  module: string;
  /** JSON text. */
  input: string;
  created_at: number;
  /** Null until a worker claims the request. */
  owner: string | null;
  /** JSON text: the violations, or null; null until the input is checked. */
  result: string | null;
}

const INSERT = `INSERT INTO input_checks (org_id, check_id, deployment_id, module, input, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)`;
const SELECT = "SELECT * FROM input_checks WHERE org_id = ?1 AND check_id = ?2";
const CLAIM = `UPDATE input_checks SET owner = ?1 WHERE (org_id, check_id) IN (
  SELECT org_id, check_id FROM input_checks WHERE owner IS NULL ORDER BY created_at LIMIT ?2 FOR UPDATE SKIP LOCKED)
RETURNING *`;
const FINISH = `UPDATE input_checks SET result = r.result
FROM ROWS(org_id text, check_id text, result text) r
WHERE input_checks.org_id = r.org_id AND input_checks.check_id = r.check_id`;
const DELETE = "DELETE FROM input_checks WHERE org_id = ?1 AND check_id = ?2";
const DELETE_OLD = "DELETE FROM input_checks WHERE created_at < ?1";

export function* requestInputCheck(row: Omit<InputCheckRow, "owner" | "result">): Program<void> {
  const { org_id, check_id, deployment_id, module, input, created_at } = row;
  yield* run(INSERT, org_id, check_id, deployment_id, module, input, created_at);
  yield* notify("input_check", deployment_id);
}

export function* getInputCheck(orgId: string, checkId: string): Program<InputCheckRow | undefined> {
  return yield* first<InputCheckRow>(SELECT, orgId, checkId);
}

/** Claims the oldest requests. */
export function* claimInputChecks(owner: string, limit: number): Program<InputCheckRow[]> {
  return yield* all<InputCheckRow>(CLAIM, owner, limit);
}

export function* finishInputCheck(row: InputCheckRow, result: string): Program<void> {
  yield* each(FINISH, [[row.org_id, row.check_id, result]]);
  yield* notify("input_checked", row.check_id);
}

export function* deleteInputCheck(orgId: string, checkId: string): Program<void> {
  yield* run(DELETE, orgId, checkId);
}

/** Deletes requests whose process has ended. */
export function* deleteOldInputChecks(beforeMs: number): Program<void> {
  yield* run(DELETE_OLD, beforeMs);
}
