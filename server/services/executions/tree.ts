/** The tree of an execution as GetExecution shows it, within limits that keep the message under 2 MiB. */
import { create } from "@bufbuild/protobuf";
import {
  type Execution,
  type ExecutionError,
  ExecutionErrorSchema,
} from "../../../proto/svc/v1/execution_pb.ts";
import type { Program } from "../../store/engine.ts";
import { attemptsOf, type ExecutionTree, executionTree } from "../../store/tables/execution-tree.ts";
import type { AttemptRow } from "../../store/tables/executions.ts";
import { toAttempt, toExecutionSummary } from "../convert.ts";

const limits = { executions: 500, children: 100, levels: 20 };
/** Of one execution, and of the whole tree. */
const maxAttempts = 20;
const maxTreeAttempts = 2000;
/** UTF-16 units of the message of an error. */
const maxMessageLength = 300;

export interface StoredTree extends ExecutionTree {
  attempts: Map<string, AttemptRow[]>;
}

export function* readTree(orgId: string, rootId: string): Program<StoredTree> {
  const tree = yield* executionTree(orgId, rootId, limits);
  // Other executions have no failed attempt.
  const failed = tree.descendants.filter(({ attempt, error }) => attempt > 1 || error !== null);
  const ids = failed.map((row) => row.execution_id);
  return { ...tree, attempts: yield* attemptsOf(orgId, ids) };
}

/** @param rootId - the execution to which the descendants belong */
export function toTree(
  rootId: string,
  { descendants, childCounts, attempts }: StoredTree,
): Pick<Execution, "descendants" | "childCount"> {
  let free = maxTreeAttempts;
  return {
    childCount: childCounts.get(rootId) ?? 0,
    descendants: descendants.map((row) => {
      const message = toExecutionSummary(row);
      message.error = shortened(message.error);
      message.childCount = childCounts.get(row.execution_id) ?? 0;
      const shown = (attempts.get(row.execution_id) ?? []).slice(-maxAttempts).slice(0, free);
      free -= shown.length;
      message.attempts = shown.map((attempt) => {
        const entry = toAttempt(attempt);
        entry.error = shortened(entry.error);
        return entry;
      });
      return message;
    }),
  };
}

function shortened(error: ExecutionError | undefined): ExecutionError | undefined {
  if (error === undefined) return undefined;
  const name = error.name.slice(0, maxMessageLength);
  return create(ExecutionErrorSchema, { name, message: error.message.slice(0, maxMessageLength) });
}
