/** Leases while a worker shuts down. */
import { expect, onTestFinished, test } from "vitest";
import type { Engine } from "../../../server/store/engine.ts";
import { newExecution, newExecutor } from "../../support/executor.ts";
import { pass, settle, useFakeClock } from "../../support/fake-clock.ts";
import { HandPool } from "../../support/hand-pool.ts";
import { openStore, rows } from "../../support/store.ts";

/** A pool that waits for its attempts when it closes, like the real one. */
class WaitingPool extends HandPool {
  readonly #running: Promise<unknown>[] = [];

  override run(...args: Parameters<HandPool["run"]>): ReturnType<HandPool["run"]> {
    const running = super.run(...args);
    this.#running.push(running);
    return running;
  }

  override async close(): Promise<void> {
    await Promise.all(this.#running);
  }
}

async function startWorker(engine: Engine, owner: string, pool = new HandPool()) {
  const executor = newExecutor(engine, { owner });
  await executor.start(pool, () => false);
  onTestFinished(() => {
    for (const { end } of pool.attempts) end({ type: "succeeded", output: "null" });
    return executor.close(0);
  });
  return { executor, pool };
}

test("an execution that ends during the grace period of a shutdown runs once", async () => {
  useFakeClock();
  const engine = openStore();
  const one = await startWorker(engine, "srv_one", new WaitingPool());
  const two = await startWorker(engine, "srv_two");
  await one.executor.enqueue(newExecution(), null);
  await settle();
  const closed = one.executor.close(20_000);
  await pass(18_000);
  one.pool.attempts[0]?.end({ type: "succeeded", output: '"first"' });
  await closed;
  expect(two.pool.attempts).toHaveLength(0);
  expect(await rows(engine, "SELECT status, output, losses FROM executions")).toEqual([
    { status: "succeeded", output: '"first"', losses: 0 },
  ]);
});
