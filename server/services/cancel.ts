/** Cancels an execution and its child executions. */
import type { Executor } from "../executions/executor.ts";
import { executionTopic, type Notifier } from "../executions/notifier.ts";
import type { Engine } from "../store/engine.ts";
import { cancelExecution, listChildren } from "../store/executions.ts";

export interface CancelParts {
  engine: Engine;
  executor: Pick<Executor, "cancel">;
  notifier: Notifier;
}

/**
 * Cancels the parent first, so that it starts no further child executions. Executions that have ended do not change. The
 * heartbeat of another process passes the request on to executions that run there.
 */
export async function cancelTree(parts: CancelParts, orgId: string, executionId: string): Promise<void> {
  const { engine, executor, notifier } = parts;
  const children = await engine.write(function* () {
    yield* cancelExecution(orgId, executionId, Date.now());
    return yield* listChildren(orgId, executionId);
  });
  executor.cancel(executionId);
  notifier.notify(executionTopic(executionId));
  for (const child of children) {
    if (child.status === "queued" || child.status === "running") {
      await cancelTree(parts, orgId, child.execution_id);
    }
  }
}
