/** The filters of the list of executions, and the limit of what one request searches, on both engines. */
import { describe, expect, test } from "vitest";
import { firstOrderedId, timeOfId } from "../../server/ids.ts";
import { Search } from "../../server/services/search.ts";
import type { Engine } from "../../server/store/engine.ts";
import { listDeliveries } from "../../server/store/tables/deliveries.ts";
import {
  type ExecutionFilter,
  type ExecutionSummary,
  idRange,
  lastOfPart,
  listExecutionSummaries,
} from "../../server/store/tables/executions.ts";
import { insertExecutions, type NewExecution } from "../../server/store/tables/new-executions.ts";
import { engineNames, stores } from "./stores.ts";

const orgId = `org_${"a".repeat(26)}`;
const all: ExecutionFilter = {
  ...{ environment: "", status: "", name: "", kind: "", origin: "", contains: "" },
  ...{ since: 0, until: 0 },
};

function at(ms: number, over: Partial<NewExecution> = {}): NewExecution {
  return {
    ...{ org_id: orgId, execution_id: firstOrderedId("exe", ms), kind: "agent", name: "job", origin: "run" },
    ...{ deployment_id: `dep_${"a".repeat(26)}`, environment: "production", input: "{}", created_at: ms },
    ...over,
  };
}

describe.each(engineNames)("executions on %s", (name) => {
  async function list(engine: Engine, filter: Partial<ExecutionFilter>): Promise<number[]> {
    const whole = { ...all, ...filter };
    const rows = await engine.read(() => listExecutionSummaries(orgId, whole, idRange(whole, ""), 100));
    return rows.map(({ created_at }) => Number(created_at));
  }

  test("are filtered by trigger, time and text", async () => {
    const engine = await (await stores[name]()).open();
    await engine.write(() =>
      insertExecutions([
        at(10, { origin: "schedule" }),
        at(20, { input: JSON.stringify({ note: 'say "hi"\n100 %_' }) }),
        at(30, { origin: "schedule", input: JSON.stringify({ text: "x".repeat(16_384), late: "far" }) }),
        at(200_000, { name: "other" }),
      ]),
    );
    expect(await list(engine, { origin: "schedule" })).toEqual([30, 10]);
    expect(await list(engine, { since: 20, until: 30 })).toEqual([20]);
    expect(await list(engine, { since: 31 })).toEqual([200_000]);
    expect(await list(engine, { contains: 'say "hi"\n100 %_' })).toEqual([20]);
    expect(await list(engine, { contains: '"note":' })).toEqual([20]);
    expect(await list(engine, { contains: "SAY" })).toEqual([]);
    expect(await list(engine, { contains: "far" })).toEqual([]);
    expect(await list(engine, { contains: firstOrderedId("exe", 200_000) })).toEqual([200_000]);
  });

  test("are searched in parts, up to the limit of a request", async () => {
    const engine = await (await stores[name]()).open();
    const count = 2_000;
    await engine.write(() =>
      insertExecutions(
        Array.from({ length: count }, (_, index) =>
          at(index + 1, index === 0 || index === 1_990 ? { name: "rare", size_bytes: 2, headers: "{}" } : {}),
        ),
      ),
    );
    const filter = { ...all, name: "rare" };
    const newSearch = (most = 1_000) =>
      new Search<ExecutionSummary>(
        (before, limit, size) =>
          engine.read(function* () {
            const range = idRange(filter, before);
            const lastKey = yield* lastOfPart(orgId, range, size);
            const part = lastKey === "" ? range : { ...range, from: lastKey };
            return { rows: yield* listExecutionSummaries(orgId, filter, part, limit), lastKey };
          }),
        most,
      );
    const search = newSearch();
    const found = await search.read("", 2);
    expect(found.map((row) => Number(row.created_at))).toEqual([1_991]);
    expect(timeOfId(search.stoppedAt)).toBe(1_001);
    const next = newSearch(2_000);
    const rest = await next.read(search.stoppedAt, 2);
    expect(rest.map((row) => Number(row.created_at))).toEqual([1]);
    expect(next.stoppedAt).toBe("");
    // The page is full before the limit.
    const full = newSearch();
    expect(await full.read("", 1)).toHaveLength(1);
    expect(full.stoppedAt).toBe("");
    const deliveries = { slug: "", name: "rare", outcome: "accepted", environment: "", since: 0 };
    const part = await engine.read(() => listDeliveries(orgId, deliveries, "", 10, 500));
    expect(part.rows.map((row) => Number(row.received_at))).toEqual([1_991]);
    expect(part.lastKey).toBe(firstOrderedId("dlv", 1_501));
  });
});
