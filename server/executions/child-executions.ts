/**
 * Child executions: an execution runs another target of its deployment with `ctx.run` and waits for it.
 *
 * A child execution is identified by its parent and key, so that a later attempt of the parent does not run it again. A
 * unique index decides between concurrent calls.
 */
import type { ProjectDefinition } from "../../project/definition.ts";
import type { JsonValue } from "../../project/json.ts";
import { orderedId } from "../ids.ts";
import type { Engine, Program } from "../store/engine.ts";
import { type ExecutionRow, getChild, getExecution, lockRunning } from "../store/tables/executions.ts";
import { parseStored } from "../store/tables/json.ts";
import { insertChild, type NewExecution } from "../store/tables/new-executions.ts";
import { unlessUnavailable } from "../store/unavailable.ts";
import type { Executor } from "./executor.ts";
import { executionTopic, type Notifier, watch } from "./notifier.ts";
import type { ChildExecutionRequest, ChildExecutionResult } from "./pool/contract.ts";
import { isEnd, type StoredError } from "./states.ts";

/** Levels of child executions below the first execution. */
export const maxDepth = 100;

/** How often to read without a notification, and the pause before work is repeated that the store did not do. */
const pollMs = 1_000;

export interface ChildExecutionOptions {
  engine: Engine;
  executor: Executor;
  notifier: Notifier;
  definitionOf(orgId: string, deploymentId: string): Promise<ProjectDefinition>;
}

/** Starts the child execution, or finds it, and resolves when it has ended. */
export async function runChildExecution(
  options: ChildExecutionOptions,
  parentId: string,
  request: ChildExecutionRequest,
  signal: AbortSignal,
): Promise<ChildExecutionResult> {
  const parent = options.executor.running(parentId);
  if (parent === undefined) return refusal("The parent execution has ended.");
  const definition = await untilAvailable(options, signal, () =>
    options.definitionOf(parent.org_id, parent.deployment_id),
  );
  if (definition === null) return aborted();
  const target = [...definition.agents, ...definition.workflows].find((entry) => entry.name === request.name);
  if (target === undefined) {
    return refusal(`Cannot run '${request.name}': the deployment has no agent or workflow of that name.`);
  }
  if (parent.depth + 1 > maxDepth) {
    return refusal(
      `Cannot run '${request.name}': child executions may be nested at most ${maxDepth} levels deep.`,
    );
  }
  const key = request.key === null ? `#${request.index}` : `=${request.key}`;
  const child: NewExecution = {
    org_id: parent.org_id,
    execution_id: orderedId("exe"),
    kind: target.kind,
    name: target.name,
    origin: "child",
    deployment_id: parent.deployment_id,
    environment: parent.environment,
    input: JSON.stringify(request.input),
    parent_execution_id: parentId,
    parent_key: key,
    depth: parent.depth + 1,
    trace: options.executor.spanOf(parentId)?.childContext(request.spanId) ?? null,
    created_at: Date.now(),
  };
  // A repeat after a commit without an answer finds the child execution.
  const row = await untilAvailable(options, signal, () =>
    options.engine.write(() => findOrInsert(child, key)),
  );
  if (row === null) return aborted();
  if (row === undefined) return refusal("The parent execution was cancelled or has ended.");
  if (row.name !== target.name) {
    return refusal(
      `Cannot run '${request.name}' as ${key.slice(1)}: an earlier attempt ran '${row.name}' at this position. Give each call its own key.`,
    );
  }
  return options.executor.withoutSlot(parent, () => ended(options, row, signal));
}

/**
 * Undefined when the parent does not run any more or its cancellation was requested. Its lock decides between a new child
 * execution and a cancellation, which lists the child executions after the commit of the request.
 */
function* findOrInsert(child: NewExecution, key: string): Program<ExecutionRow | undefined> {
  const parentId = child.parent_execution_id ?? "";
  if (yield* lockRunning(child.org_id, parentId)) yield* insertChild(child);
  return yield* getChild(child.org_id, parentId, key);
}

/** Repeats work while the store is unavailable: a short outage must not fail a workflow. @returns null when aborted */
async function untilAvailable<Result>(
  { notifier }: ChildExecutionOptions,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result | null> {
  for (;;) {
    const result = await unlessUnavailable(work());
    if (result !== null || signal.aborted) return result;
    await watch(notifier, [], pollMs).next(signal);
  }
}

async function ended(
  options: ChildExecutionOptions,
  row: ExecutionRow,
  signal: AbortSignal,
): Promise<ChildExecutionResult> {
  const watcher = watch(options.notifier, [executionTopic(row.execution_id)], pollMs);
  try {
    for (;;) {
      const read = options.engine.read(() => getExecution(row.org_id, row.execution_id));
      const now = await unlessUnavailable(read);
      if (now === undefined) return refusal("The child execution was deleted.");
      if (now !== null && isEnd(now.status)) return result(now);
      if (signal.aborted) return aborted();
      await watcher.next(signal);
    }
  } finally {
    watcher.stop();
  }
}

function result(row: ExecutionRow): ChildExecutionResult {
  const executionId = row.execution_id;
  if (row.status === "succeeded")
    return { executionId, output: parseStored<JsonValue>(row.output ?? "null") };
  if (row.status === "cancelled") {
    const message = `The child execution of '${row.name}' was cancelled.`;
    return { executionId, error: { name: "CancelledError", message, stack: "" } };
  }
  return { executionId, error: parseStored<StoredError>(row.error ?? "{}") };
}

function aborted(): ChildExecutionResult {
  return refusal("The wait for the child execution was aborted.");
}

function refusal(message: string): ChildExecutionResult {
  return { executionId: "", error: { name: "Error", message, stack: "" } };
}
