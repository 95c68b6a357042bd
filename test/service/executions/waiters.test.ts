/** Requests that wait for an execution: their limit, and an outage of the store. */
import { expect, test } from "vitest";
import { Notifier } from "../../../server/executions/notifier.ts";
import { insertExecution } from "../../../server/store/tables/new-executions.ts";
import { Waiters } from "../../../server/webhooks/waiters.ts";
import { newExecution } from "../../support/executor.ts";
import { FaultyEngine } from "../../support/faulty-engine.ts";
import { openStore, orgId } from "../../support/store.ts";

test("200 requests of an organization wait, and a request that is gone makes room", async () => {
  const engine = openStore();
  const waiters = new Waiters(engine, new Notifier(engine), new AbortController().signal);
  const execution = newExecution();
  const { execution_id } = execution;
  await engine.write(() => insertExecution(execution));
  const minute = 60_000;
  const gone = Array.from({ length: 200 }, () => new AbortController());
  const prefer = ({ signal }: AbortController) =>
    waiters.result(orgId, { executionId: execution_id, replayed: false }, "wait=60", signal);
  // Both kinds of waiting share the limit.
  const wait = (controller: AbortController, index = 0) =>
    index % 2 === 0 ? waiters.response(orgId, execution_id, minute, controller.signal) : prefer(controller);
  let answered = 0;
  const waiting = gone.map((controller, index) => wait(controller, index).finally(() => answered++));
  const immediate = { status: "queued", output: null, failure: null, response: null };
  expect(await wait(new AbortController())).toEqual(immediate);
  expect(await prefer(new AbortController())).toMatchObject({ status: "queued", waitSeconds: null });
  expect(answered).toBe(0);
  gone[1]?.abort();
  await waiting[1];
  const next = new AbortController();
  const added = wait(next);
  expect(await wait(new AbortController())).toEqual(immediate);
  for (const controller of [...gone, next]) controller.abort();
  await Promise.all([...waiting, added]);
});

test("a request whose execution was accepted gets no error when the store goes away", async () => {
  const engine = new FaultyEngine(openStore());
  const execution = newExecution();
  await engine.write(() => insertExecution(execution));
  const waiters = new Waiters(engine, new Notifier(engine), new AbortController().signal);
  engine.isDown = true;
  const accepted = { executionId: execution.execution_id, replayed: false };
  const found = await waiters.result(orgId, accepted, "wait=1", new AbortController().signal);
  expect(found).toMatchObject({ status: "queued", waitSeconds: 1, output: null, failure: null });
});
