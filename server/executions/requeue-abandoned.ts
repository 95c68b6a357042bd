/** Requeues running executions whose worker has ended or stopped responding. */
import type { Engine, Program } from "../store/engine.ts";
import type { AbandonedExecution } from "../store/leases.ts";
import { executionTopic, type Notifier } from "./notifier.ts";
import { afterLoss, delayAfterLossMs } from "./states.ts";
import { stateOf, writeTransition } from "./write-transition.ts";

/**
 * @param list - lists a batch. An empty one ends the work
 * @param reason - a sentence for the log
 */
export async function requeueAbandoned(
  parts: { engine: Engine; notifier: Notifier },
  list: () => Program<AbandonedExecution[]>,
  reason: string,
): Promise<void> {
  for (;;) {
    const rows = await parts.engine.read(list);
    if (rows.length === 0) return;
    for (const row of rows) {
      // An execution is suspect only if its worker ran nothing else.
      const counts = row.held === 1;
      const dueAtMs = Date.now() + (counts ? delayAfterLossMs(row.runner_losses) : 0);
      const loss = { reason, counts, alone: counts || row.alone === 1 };
      await writeTransition(parts, row, afterLoss(stateOf(row), loss, dueAtMs));
      parts.notifier.notify(executionTopic(row.execution_id));
    }
  }
}
