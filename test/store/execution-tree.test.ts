/** The tree of child executions, with limits that are small enough to reach. */
import { describe, expect, test } from "vitest";
import { executionTree } from "../../server/store/tables/execution-tree.ts";
import { insertExecutions, type NewExecution } from "../../server/store/tables/new-executions.ts";
import { orgId } from "../support/store.ts";
import { engineNames, stores } from "./stores.ts";

/** `a`, with the children `a1` and `a2`, and so on. */
const id = (path: string) => `exe_${path.padEnd(26, "0")}`;
const pathOf = ({ execution_id }: { execution_id: string }) => execution_id.slice(4).replace(/0+$/, "");

const execution = (path: string): NewExecution => ({
  org_id: orgId,
  execution_id: id(path),
  kind: "workflow",
  name: "any",
  origin: path.length === 1 ? "run" : "child",
  deployment_id: "dep_1",
  environment: "production",
  input: "{}",
  parent_execution_id: path.length === 1 ? null : id(path.slice(0, -1)),
  // In another order than the ids.
  parent_key: path.length === 1 ? null : `=${9 - Number(path.at(-1))}`,
  created_at: 1,
});

const paths = ["a", "a1", "a2", "a3", "a11", "a12", "a31", "a311", "a3111", "b", "b1"];

describe.each(engineNames)("the tree of an execution on %s", (name) => {
  test("lists each execution before its own child executions, and counts those beyond the limits", async () => {
    const engine = await (await stores[name]()).open();
    await engine.write(() => insertExecutions(paths.toReversed().map(execution)));
    const treeOf = async (limits: Partial<Parameters<typeof executionTree>[2]>) => {
      const all = { executions: 100, children: 100, levels: 100, ...limits };
      const { descendants, childCounts } = await engine.read(() => executionTree(orgId, id("a"), all));
      const counts = [...childCounts].map(([key, count]) => [pathOf({ execution_id: key }), count]);
      return { shown: descendants.map(pathOf), counts: Object.fromEntries(counts) };
    };
    expect(await treeOf({})).toEqual({
      shown: ["a1", "a11", "a12", "a2", "a3", "a31", "a311", "a3111"],
      counts: { a: 3, a1: 2, a11: 0, a12: 0, a2: 0, a3: 1, a31: 1, a311: 1, a3111: 0 },
    });
    expect(await treeOf({ levels: 2 })).toMatchObject({
      shown: ["a1", "a11", "a12", "a2", "a3", "a31"],
      counts: { a31: 1 },
    });
    expect(await treeOf({ children: 1 })).toMatchObject({ shown: ["a1", "a11"], counts: { a: 3, a1: 2 } });
    expect(await treeOf({ executions: 4 })).toMatchObject({
      shown: ["a1", "a11", "a2", "a3"],
      counts: { a: 3, a1: 2, a3: 1 },
    });
  });
});
