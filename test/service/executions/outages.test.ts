/** Leases while a worker shuts down, while the store is away, and after a commit without an answer. */
import { expect, onTestFinished, test } from "vitest";
import type { Engine } from "../../../server/store/engine.ts";
import { insertExecution } from "../../../server/store/tables/new-executions.ts";
import { newExecution, newExecutor } from "../../support/executor.ts";
import { pass, settle, useFakeClock } from "../../support/fake-clock.ts";
import { FaultyEngine } from "../../support/faulty-engine.ts";
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

test("workers keep their executions when the store was away for longer than a lease", async () => {
  useFakeClock();
  const engine = new FaultyEngine(openStore());
  const workers = [];
  for (const owner of ["srv_one", "srv_two", "srv_three"]) {
    const worker = await startWorker(engine, owner);
    await worker.executor.enqueue(newExecution(), null);
    workers.push(worker);
    // Their heartbeats are at different times.
    await pass(1_500);
  }
  engine.isDown = true;
  await pass(20_000);
  engine.isDown = false;
  await pass(30_000);
  expect(workers.map(({ pool }) => pool.attempts.length)).toEqual([1, 1, 1]);
});

test("another worker is judged again some time after the store was away", async () => {
  useFakeClock();
  const store = openStore();
  const engine = new FaultyEngine(store);
  const lost = new FaultyEngine(store);
  const one = await startWorker(lost, "srv_one");
  const two = await startWorker(engine, "srv_two");
  await one.executor.enqueue(newExecution(), null);
  await settle();
  for (const each of [engine, lost]) each.isDown = true;
  await pass(20_000);
  engine.isDown = false;
  await pass(15_000);
  expect(two.pool.attempts).toHaveLength(0);
  await pass(10_000);
  expect(two.pool.attempts).toHaveLength(1);
});

test.each(["claim", "acceptance"])(
  "an execution whose %s got no answer runs within a minute",
  async (write) => {
    useFakeClock();
    const store = openStore();
    const engine = new FaultyEngine(store);
    const { executor, pool } = await startWorker(engine, "srv_one");
    if (write === "claim") {
      await store.write(() => insertExecution(newExecution()));
      // The notification has made the executor claim.
      engine.losesNextAnswer = true;
    } else {
      engine.losesNextAnswer = true;
      await expect(executor.enqueue(newExecution(), null)).rejects.toThrow("unknown");
    }
    await pass(2_000);
    expect(pool.attempts).toHaveLength(0);
    expect(await rows(store, "SELECT status FROM executions")).toEqual([{ status: "running" }]);
    await pass(58_000);
    expect(pool.attempts).toHaveLength(1);
    expect(await rows(store, "SELECT status, losses, runner_losses FROM executions")).toEqual([
      { status: "running", losses: 1, runner_losses: 0 },
    ]);
  },
);

test("the lease of an accepted execution starts with its write", async () => {
  useFakeClock();
  const engine = openStore();
  const { executor } = await startWorker(engine, "srv_one");
  const accepted = executor.enqueue({ ...newExecution(), created_at: Date.now() - 10_000 }, null);
  await settle();
  await accepted;
  expect(await rows(engine, "SELECT lease_until - ?1 AS left FROM executions", Date.now())).toEqual([
    { left: 15_000 },
  ]);
});
