/** Cancels an execution and its child executions. */
import type { Engine } from "../../store/engine.ts";
import { cancelExecutions, listOpenChildren } from "../../store/tables/executions.ts";

/**
 * Cancels the parent first, so that it starts no further child executions. Executions that have ended do not change. The
 * store notifies the processes in which executions run.
 */
export async function cancelTree(engine: Engine, orgId: string, executionId: string): Promise<void> {
  let ids = [executionId];
  while (ids.length > 0) {
    const parents = ids;
    await engine.write(() => cancelExecutions(orgId, parents, Date.now()));
    ids = await engine.read(() => listOpenChildren(orgId, parents));
  }
}
