/** The responses that executions set. */
import { describe, expect, test } from "vitest";
import { orderedId } from "../../server/ids.ts";
import type { Engine } from "../../server/store/engine.ts";
import { getExecution } from "../../server/store/tables/executions.ts";
import { setResponses } from "../../server/store/tables/leases.ts";
import { insertExecution, type NewExecution } from "../../server/store/tables/new-executions.ts";
import { orgId } from "../support/store.ts";
import { engineNames, stores } from "./stores.ts";

describe.each(engineNames)("on %s", (name) => {
  const lease = (execution_id: string, lease_owner = "worker") => {
    return { org_id: orgId, execution_id, lease_owner, attempt: 1, losses: 0 };
  };
  const insert = async (engine: Engine): Promise<string> => {
    const row: NewExecution = {
      org_id: orgId,
      execution_id: orderedId("exe"),
      kind: "agent",
      name: "a",
      origin: "webhook",
      deployment_id: "dep_a",
      environment: "production",
      input: "{}",
      created_at: Date.now(),
      lease: { owner: "worker", untilMs: Date.now() + 15_000 },
    };
    await engine.write(() => insertExecution(row));
    return row.execution_id;
  };

  test("the first response of an execution is kept, if its lease is held", async () => {
    const store = await stores[name]();
    const engine = await store.open();
    const [first, second, lost] = [await insert(engine), await insert(engine), await insert(engine)];
    const notified: (string | null)[] = [];
    engine.listen("execution", (key) => notified.push(key));
    await engine.write(() =>
      setResponses([
        { lease: lease(first), response: '{"body":"a"}' },
        { lease: lease(second), response: '{"body":"b"}' },
        { lease: lease(lost, "other"), response: '{"body":"c"}' },
      ]),
    );
    await engine.write(() => setResponses([{ lease: lease(first), response: '{"body":"later"}' }]));
    const responseOf = async (id: string) =>
      (await engine.read(() => getExecution(orgId, id)))?.response ?? null;
    expect([await responseOf(first), await responseOf(second), await responseOf(lost)]).toEqual([
      '{"body":"a"}',
      '{"body":"b"}',
      null,
    ]);
    expect(notified).toEqual(expect.arrayContaining([first, second]));
  });
});
