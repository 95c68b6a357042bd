/** Child executions: an outage of the store, and the cancellation of their parent. */
import { expect, test, vi } from "vitest";
import { Counters } from "../../../server/counters.ts";
import { runChildExecution } from "../../../server/executions/child-executions.ts";
import { Notifier } from "../../../server/executions/notifier.ts";
import { cancelTree } from "../../../server/services/executions/cancel.ts";
import { definition, newExecution, startExecutor } from "../../support/executor.ts";
import { pass, useFakeClock } from "../../support/fake-clock.ts";
import { FaultyEngine } from "../../support/faulty-engine.ts";
import { openStore, orgId, rows } from "../../support/store.ts";

async function startParent() {
  const engine = new FaultyEngine(openStore());
  const { executor, pool } = await startExecutor(engine);
  const parent = newExecution();
  await executor.enqueue(parent, null);
  await vi.waitFor(() => expect(pool.attempts).toHaveLength(1));
  const options = { engine, executor, notifier: new Notifier(engine), definitionOf: async () => definition };
  const request = { name: "agent", input: {}, key: null, index: 0, spanId: null };
  return { engine, pool, parent, options, request };
}

test("a workflow that starts and awaits a child execution survives an outage of the store", async () => {
  useFakeClock();
  const { engine, pool, parent, options, request } = await startParent();
  engine.isDown = true;
  const call = runChildExecution(options, parent.execution_id, request, new AbortController().signal);
  await pass(3_000);
  engine.isDown = false;
  await pass(3_000);
  expect(pool.attempts).toHaveLength(2);
  engine.isDown = true;
  await pass(3_000);
  engine.isDown = false;
  pool.attempts[1]?.end({ type: "succeeded", output: "42" });
  await pass(2_000);
  expect(await call).toMatchObject({ output: 42 });
});

test("a workflow that is cancelled while it starts a child execution does not start it", async () => {
  const { engine, pool, parent, options, request } = await startParent();
  const gate = Promise.withResolvers<typeof definition>();
  const call = runChildExecution(
    { ...options, definitionOf: () => gate.promise },
    parent.execution_id,
    request,
    new AbortController().signal,
  );
  await cancelTree({ engine, counters: new Counters(engine) }, orgId, parent.execution_id);
  gate.resolve(definition);
  expect(await call).toMatchObject({
    error: { message: "The parent execution was cancelled or has ended." },
  });
  expect(await rows(engine, "SELECT 1 FROM executions")).toHaveLength(1);
  expect(pool.attempts).toHaveLength(1);
});
