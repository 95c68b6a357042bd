/** The limit of requests that wait for an execution. */
import { expect, test } from "vitest";
import { Notifier } from "../../../server/executions/notifier.ts";
import { orderedId } from "../../../server/ids.ts";
import { insertExecution } from "../../../server/store/tables/new-executions.ts";
import { Waiters } from "../../../server/webhooks/waiters.ts";
import { openStore, orgId } from "../../support/store.ts";

test("200 requests of an organization wait, and a request that is gone makes room", async () => {
  const engine = openStore();
  const waiters = new Waiters(engine, new Notifier(engine), new AbortController().signal);
  const execution_id = orderedId("exe");
  await engine.write(() =>
    insertExecution({
      org_id: orgId,
      execution_id,
      kind: "agent",
      name: "a",
      origin: "webhook",
      deployment_id: "dep_a",
      environment: "production",
      input: "{}",
      created_at: Date.now(),
    }),
  );
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
