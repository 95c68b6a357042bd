/** Requeues running executions whose worker has ended or stopped responding, or does not know that it holds them. */
import { type Engine, notify, type Program } from "../store/engine.ts";
import type { RunningExecution } from "../store/tables/leases.ts";
import { lockExecutionsOf } from "../store/tables/leases.ts";
import { afterLoss, delayAfterLossMs, type Transition } from "./states.ts";
import { applyTransitions, type Change, stateOf } from "./write-transition.ts";

/**
 * Handles each worker in one transaction, so that one of several processes that notice the loss at once handles it.
 *
 * @param list - lists the lost workers
 * @param check - whether a worker is still lost, when its executions are locked: it may have continued
 * @param reason - a sentence for the log
 * @param onEnd - called after each write of a transition
 */
export async function requeueAbandoned(
  engine: Engine,
  list: () => Program<string[]>,
  check: (rows: readonly RunningExecution[]) => boolean,
  reason: string,
  onEnd: (row: RunningExecution, transition: Transition) => void = () => {},
): Promise<void> {
  for (const owner of await engine.read(list)) {
    const changes = await engine.write(function* () {
      const rows = yield* lockExecutionsOf(owner);
      if (!check(rows)) return [];
      // An execution is suspect only if its worker ran nothing else.
      const losses = rows.map((row) => lossOf(row, rows.length === 1, reason));
      const written = yield* applyTransitions(losses);
      return losses.map(({ row }, index) => ({ row, transition: written[index] ?? null }));
    });
    for (const { row, transition } of changes) if (transition !== null) onEnd(row, transition);
  }
}

/**
 * Requeues executions of this worker that it has not started: the commit of their claim or acceptance took effect, and its
 * answer was lost.
 *
 * @param isStray - whether this worker still does not know the execution, when its row is locked
 */
export async function requeueStrays(
  engine: Engine,
  owner: string,
  isStray: (row: RunningExecution) => boolean,
): Promise<void> {
  await engine.write(function* () {
    const rows = (yield* lockExecutionsOf(owner)).filter(isStray);
    yield* applyTransitions(rows.map((row) => lossOf(row, false, "The store did not confirm its start.")));
    for (const id of new Set(rows.map((row) => row.deployment_id))) yield* notify("queued", id);
  });
}

function lossOf(row: RunningExecution, counts: boolean, reason: string): Change {
  const atMs = Date.now();
  const dueAtMs = atMs + (counts ? delayAfterLossMs(row.runner_losses) : 0);
  const loss = { reason, counts, alone: counts || row.alone === 1 };
  return { row, transition: afterLoss(stateOf(row), loss, dueAtMs), atMs };
}
