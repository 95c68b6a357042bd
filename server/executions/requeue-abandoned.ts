/** Requeues running executions whose worker has ended or stopped responding. */
import type { Engine, Program } from "../store/engine.ts";
import type { RunningExecution } from "../store/tables/leases.ts";
import { lockExecutionsOf } from "../store/tables/leases.ts";
import { afterLoss, delayAfterLossMs } from "./states.ts";
import { applyTransitions, type Change, stateOf } from "./write-transition.ts";

/**
 * Handles each worker in one transaction, so that one of several processes that notice the loss at once handles it.
 *
 * @param list - lists the lost workers
 * @param check - whether a worker is still lost, when its executions are locked: it may have continued
 * @param reason - a sentence for the log
 */
export async function requeueAbandoned(
  engine: Engine,
  list: () => Program<string[]>,
  check: (rows: readonly RunningExecution[]) => boolean,
  reason: string,
): Promise<void> {
  for (const owner of await engine.read(list)) {
    await engine.write(function* () {
      const rows = yield* lockExecutionsOf(owner);
      if (!check(rows)) return;
      // An execution is suspect only if its worker ran nothing else.
      yield* applyTransitions(rows.map((row) => lossOf(row, rows.length === 1, reason)));
    });
  }
}

function lossOf(row: RunningExecution, counts: boolean, reason: string): Change {
  const atMs = Date.now();
  const dueAtMs = atMs + (counts ? delayAfterLossMs(row.runner_losses) : 0);
  const loss = { reason, counts, alone: counts || row.alone === 1 };
  return { row, transition: afterLoss(stateOf(row), loss, dueAtMs), atMs };
}
