/**
 * The tree of an execution: its child executions, their child executions, and so on. It is read level by level through the
 * index on the parent. An own column with the first execution of the tree was rejected: a server of an earlier version
 * would not fill it in during an upgrade, and each execution would pay for its index.
 */
import { each, type Program } from "../engine.ts";
import { type AttemptRow, type ExecutionStatus, type ExecutionSummary, SUMMARY } from "./executions.ts";

export interface TreeLimits {
  /** Executions below the first one. */
  executions: number;
  /** Child executions of one execution. */
  children: number;
  /** Levels below the first execution. */
  levels: number;
}

export interface ExecutionTree {
  /** Each execution before its own child executions, oldest first. */
  descendants: ExecutionSummary[];
  /** Numbers of child executions, also of those that are not among the descendants, by the id of their parent. */
  childCounts: Map<string, number>;
}

interface ChildRow extends ExecutionSummary {
  parent_execution_id: string;
  child_count: number;
}

const CHILDREN = `executions e INDEXED BY one_child_of_key, ROWS(parent_id text) r
WHERE e.org_id = ?1 AND e.parent_execution_id = r.parent_id`;
/** The ids are numbered first: they are in the index, and the rows are not. */
const SELECT_CHILDREN = `SELECT child.child_count, ${SUMMARY.replaceAll(/\w+/g, "executions.$&")}
FROM (SELECT e.execution_id,
    ROW_NUMBER() OVER (PARTITION BY e.parent_execution_id ORDER BY e.execution_id) AS place,
    COUNT(*) OVER (PARTITION BY e.parent_execution_id) AS child_count
  FROM ${CHILDREN}) child
JOIN executions ON executions.org_id = ?1 AND executions.execution_id = child.execution_id
WHERE child.place <= ?2`;
const SELECT_COUNTS = `SELECT e.parent_execution_id, COUNT(*) AS child_count
FROM ${CHILDREN}
GROUP BY e.parent_execution_id`;
const SELECT_ATTEMPTS = `SELECT attempts.* FROM attempts, ROWS(execution_id text) r
WHERE attempts.org_id = ?1 AND attempts.execution_id = r.execution_id`;

const SELECT_STATES = `SELECT e.execution_id, e.status FROM executions e, ROWS(execution_id text) r
WHERE e.org_id = ?1 AND e.execution_id = r.execution_id`;
const SELECT_CHILD_STATES = `SELECT e.execution_id, e.status FROM ${CHILDREN}`;

/** An execution of a tree and its state. */
export interface ExecutionState {
  execution_id: string;
  status: ExecutionStatus;
}

export function* executionTree(orgId: string, rootId: string, limits: TreeLimits): Program<ExecutionTree> {
  const childCounts = new Map<string, number>();
  const children = new Map<string, ChildRow[]>();
  let parents = [rootId];
  let free = limits.executions;
  for (let level = 0; parents.length > 0; level++) {
    const ids = parents.map((id) => [id]);
    if (level === limits.levels || free === 0) {
      for (const { parent_execution_id: id, child_count } of yield* each<ChildRow>(
        SELECT_COUNTS,
        ids,
        orgId,
      )) {
        childCounts.set(id, child_count);
      }
      break;
    }
    const rows = yield* each<ChildRow>(SELECT_CHILDREN, ids, orgId, Math.min(limits.children, free));
    const found = Map.groupBy(rows.toSorted(byId), (row) => row.parent_execution_id);
    const next: string[] = [];
    for (const parent of parents) {
      const all = found.get(parent) ?? [];
      childCounts.set(parent, all[0]?.child_count ?? 0);
      const taken = all.slice(0, free);
      free -= taken.length;
      children.set(parent, taken);
      next.push(...taken.map((row) => row.execution_id));
    }
    parents = next;
  }
  return { descendants: [...below(rootId, children)], childCounts };
}

function* below(id: string, children: ReadonlyMap<string, ChildRow[]>): Generator<ExecutionSummary> {
  for (const child of children.get(id) ?? []) {
    yield child;
    yield* below(child.execution_id, children);
  }
}

function byId(a: ExecutionSummary, b: ExecutionSummary): number {
  return a.execution_id < b.execution_id ? -1 : 1;
}

/** The failed attempts of executions, by the id of the execution, oldest first. */
export function* attemptsOf(
  orgId: string,
  executionIds: readonly string[],
): Program<Map<string, AttemptRow[]>> {
  const ids = executionIds.map((id) => [id]);
  const rows = yield* each<AttemptRow>(SELECT_ATTEMPTS, ids, orgId);
  const sorted = rows.toSorted((a, b) => a.attempt - b.attempt);
  return Map.groupBy(sorted, (row) => row.execution_id);
}

export function* executionStates(orgId: string, executionIds: readonly string[]): Program<ExecutionState[]> {
  const ids = executionIds.map((id) => [id]);
  return yield* each<ExecutionState>(SELECT_STATES, ids, orgId);
}

/** The child executions of all these executions. */
export function* childStates(orgId: string, parentIds: readonly string[]): Program<ExecutionState[]> {
  const ids = parentIds.map((id) => [id]);
  return yield* each<ExecutionState>(SELECT_CHILD_STATES, ids, orgId);
}
