/**
 * The embedded store has no statistics of its tables, and without them SQLite reads all rows of an organization rather than
 * an index: statements about one execution name their index with INDEXED BY.
 */
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { toSqlite } from "../../server/store/dialects/sqlite.ts";
import type { Program, Row, Statement } from "../../server/store/engine.ts";
import { migrate } from "../../server/store/migrate.ts";
import {
  attemptsOf,
  childStates,
  executionStates,
  executionTree,
} from "../../server/store/tables/execution-tree.ts";
import {
  cancelExecutions,
  getChild,
  getExecution,
  lastOfPart,
  listAttempts,
  listExecutionSummaries,
  listOpenChildren,
} from "../../server/store/tables/executions.ts";
import {
  deleteOldExecutions,
  deleteSurplusExecutions,
} from "../../server/store/tables/expired-executions.ts";
import { claimExecutions, finishExecutions } from "../../server/store/tables/leases.ts";
import { allLogs, firstLogs, lastLogs } from "../../server/store/tables/logs.ts";
import { orgId } from "../support/store.ts";

const id = "exe_1";
const lease = { org_id: orgId, execution_id: id, lease_owner: "srv_1", attempt: 1, losses: 0 };
const range = { above: 0, upTo: 1_000_000 };
const filter = {
  environment: "",
  status: "",
  name: "",
  kind: "",
  origin: "",
  since: 0,
  until: 0,
  contains: "",
};
const ids = { from: "exe_0", below: "exe_2" };
const of = (...executionIds: string[]) => ({ ...allLogs, executionIds });
const limits = { executions: 10, children: 10, levels: 1 };

/** By their plan. Null: each table is read by the id of an execution or of its parent. */
const programs: [name: string, plan: string | null, () => Program<unknown>][] = [
  ["an execution", null, () => getExecution(orgId, id)],
  ["a child execution", null, () => getChild(orgId, id, "key")],
  ["the attempts of an execution", null, () => listAttempts(orgId, id)],
  ["the attempts of executions", null, () => attemptsOf(orgId, [id])],
  ["the states of executions", null, () => executionStates(orgId, [id])],
  ["the child executions of a watched execution", null, () => childStates(orgId, [id])],
  ["the child executions of a cancelled execution", null, () => listOpenChildren(orgId, [id])],
  ["the tree of an execution", null, () => executionTree(orgId, id, limits)],
  ["the first log entries of an execution", null, () => firstLogs(orgId, of(id), range, 10)],
  ["the last log entries of an execution", null, () => lastLogs(orgId, of(id), range, 10)],
  ["the first log entries of a tree", "seq=?", () => firstLogs(orgId, of(id, "exe_2"), range, 10)],
  ["the last log entries of a tree", "seq=?", () => lastLogs(orgId, of(id, "exe_2"), range, 10)],
  ["a cancellation", null, () => cancelExecutions(orgId, [id], 1)],
  [
    "the end of an execution",
    null,
    () => finishExecutions([{ lease, status: "failed", output: null, error: "{}", atMs: 1 }]),
  ],
  ["the deletion of an execution", null, () => deleteSurplusExecutions(orgId, [id], 10)],
  [
    "the deletion of old executions",
    "finished_executions (finished_at",
    () => deleteOldExecutions(1, { executions: 10, logs: 10 }),
  ],
  [
    "a claim",
    "queued_executions (deployment_id=? AND due_at<?)",
    () => claimExecutions("dep_1", 1, "srv_1", 2, 1),
  ],
  [
    "a page of executions",
    "execution_id>? AND execution_id<?",
    () => listExecutionSummaries(orgId, filter, ids, 10),
  ],
  ["a part of a search", "execution_id>? AND execution_id<?", () => lastOfPart(orgId, ids, 10)],
];

const db = new DatabaseSync(":memory:");
migrate({ exec: (sql) => db.exec(sql), all: (sql, ...params) => db.prepare(sql).all(...params) as Row[] });

test.each(programs)("reads %s by an index", (_name, expected, program) => {
  const reads = statementsOf(program()).flatMap(({ sql }) => {
    const plan = db
      .prepare(`EXPLAIN QUERY PLAN ${toSqlite(sql)}`)
      .all()
      .map(({ detail }) => String(detail));
    return plan.filter((step) => /^(SEARCH|SCAN) (e|p|executions|logs|attempts)\b/.test(step));
  });
  if (expected !== null) expect(reads.join("\n")).toContain(expected);
  expect(reads).not.toEqual([]);
  const byId = (step: string) =>
    step.includes("execution_id=?") || step.includes(expected ?? "execution_id=?");
  expect(reads.filter((step) => !byId(step))).toEqual([]);
});

/** The statements of a program. Each returns a row. */
function statementsOf(program: Program<unknown>): Statement[] {
  const found: Statement[] = [];
  for (let step = program.next(); step.done !== true; ) {
    if ("sql" in step.value) found.push(step.value);
    const row = {
      org_id: orgId,
      execution_id: "exe_2",
      parent_execution_id: id,
      child_count: 1,
      seq: 1,
      at: 0,
    };
    step = program.next([row]);
  }
  return found;
}
