/** Cancels an execution and its child executions. */
import { cancelExecutions, listOpenChildren } from "../../store/tables/executions.ts";
import { metrics } from "../../telemetry/metrics/index.ts";
import type { App } from "../app.ts";

/**
 * Cancels the parent first, so that it starts no further child executions. Executions that have ended do not change. The
 * store notifies the processes in which executions run.
 */
export async function cancelTree(
  { engine, counters }: Pick<App, "engine" | "counters">,
  orgId: string,
  executionId: string,
): Promise<void> {
  let ids = [executionId];
  while (ids.length > 0) {
    const parents = ids;
    const now = Date.now();
    for (const row of await engine.write(() => cancelExecutions(orgId, parents, now))) {
      // The process that runs an execution counts its end.
      if (row.status === "running") continue;
      counters.ended({ ...row, org_id: orgId }, "cancelled", now);
      metrics.finished.add("cancelled", row.kind, row.origin);
      metrics.executionDuration.observe((now - row.created_at) / 1000, row.kind);
    }
    ids = await engine.read(() => listOpenChildren(orgId, parents));
  }
}
