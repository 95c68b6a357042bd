/** The claims of a worker: their slots and their times. */
import { expect, onTestFinished, test, vi } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { runChildExecution } from "../../../server/executions/child-executions.ts";
import { Notifier } from "../../../server/executions/notifier.ts";
import type { Engine } from "../../../server/store/engine.ts";
import { insertExecutions } from "../../../server/store/tables/new-executions.ts";
import { definition, newExecution, newExecutor } from "../../support/executor.ts";
import { pass, settle, useFakeClock } from "../../support/fake-clock.ts";
import { HandPool } from "../../support/hand-pool.ts";
import { openStore, rows } from "../../support/store.ts";

async function startWorker(engine: Engine, concurrency: number) {
  const executor = newExecutor(engine, { limits: { ...loadConfig({}, {}).limits, concurrency } });
  const pool = new HandPool();
  pool.free = () => 1_000;
  await executor.start(pool, () => false);
  onTestFinished(() => {
    for (const { end } of pool.attempts) end({ type: "succeeded", output: "null" });
    return executor.close(0);
  });
  return { executor, pool };
}

test("an execution releases one slot, however many child executions it waits for", async () => {
  const engine = openStore();
  const { executor, pool } = await startWorker(engine, 4);
  const parent = newExecution();
  await executor.enqueue(parent, null);
  await vi.waitFor(() => expect(pool.attempts).toHaveLength(1));
  const options = { engine, executor, notifier: new Notifier(engine), definitionOf: async () => definition };
  const abort = new AbortController();
  const calls = Array.from({ length: 20 }, (_, index) => {
    const request = { name: "agent", input: {}, key: null, index, spanId: null };
    return runChildExecution(options, parent.execution_id, request, abort.signal);
  });
  const queued = () => rows(engine, "SELECT 1 FROM executions WHERE status = 'queued'");
  await vi.waitFor(async () => expect(await queued()).toHaveLength(16));
  await settle();
  expect(pool.attempts).toHaveLength(1 + 4);
  // The parent takes its slot back after its last wait: of the slots of two children, one is free.
  abort.abort();
  await Promise.all(calls);
  for (const { end } of pool.attempts.slice(1, 3)) end({ type: "succeeded", output: "null" });
  await vi.waitFor(() => expect(pool.attempts).toHaveLength(1 + 4 + 1));
  await settle();
  expect(pool.attempts).toHaveLength(1 + 4 + 1);
});

test("deployments whose executions are queued together start together", async () => {
  const engine = openStore();
  const { pool } = await startWorker(engine, 256);
  const count = 8;
  await engine.write(() =>
    insertExecutions(Array.from({ length: count }, (_, index) => newExecution(`dep_${index}`))),
  );
  await settle();
  expect(pool.attempts).toHaveLength(count);
});

test("an execution that was queued by a process whose clock is ahead does not wait for the next sweep", async () => {
  useFakeClock();
  const engine = openStore();
  const { pool } = await startWorker(engine, 4);
  await engine.write(() => insertExecutions([{ ...newExecution(), created_at: Date.now() + 30 }]));
  await pass(20, 10);
  expect(pool.attempts).toHaveLength(0);
  await pass(100, 10);
  expect(pool.attempts).toHaveLength(1);
});
