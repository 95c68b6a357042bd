/** What people see of an execution with child executions: its tree and its log. */
import { stripVTControlCharacters } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { commandRuntimes } from "../support/runtimes.ts";
import { newFolder, svcOnTerminal, useService, writeFiles } from "./support.ts";

const files = {
  "svc-project.yaml": `name: shop
version: "1.0"
agents:
  - name: reserve
    enable_retry: true
    retry_policy: { strategy: fixed, initial_delay: 0.01, max_retries: 1 }
  - name: notify
workflows:
  - name: order
  - name: warehouse
`,
  "workflows/order.ts": `import { defineWorkflow } from "svc";
export default defineWorkflow(async (_, ctx) => {
  console.log("order received");
  await ctx.run("warehouse");
  await ctx.run("notify", { text: "packed" });
  console.log("order done");
  return "done";
});
`,
  "workflows/warehouse.ts": `export default async (_, ctx) => {
  console.log("at the warehouse");
  await ctx.run("reserve");
};
`,
  "agents/reserve.ts": `export default (_, ctx) => {
  console.log("reserving");
  if (ctx.attempt === 1) throw new RangeError("no stock in the first warehouse, which is a long message");
};
`,
  "agents/notify.ts": "export default ({ text }) => console.log(text);\n",
};

interface Run {
  execution_id: string;
  name: string;
  parent_execution_id: string;
  child_count: number;
  attempts: { error: { message: string; stack: string } }[];
}

describe.each(commandRuntimes("node"))("an execution with child executions, svc on %s", (runtime) => {
  const service = useService(runtime);
  let root: Run & { descendants: Run[] };

  beforeAll(async () => {
    const cwd = await newFolder();
    await writeFiles(cwd, files);
    expect((await service.run("push --force", { cwd })).stderr).toContain("Deployed shop");
    const { stdout } = await service.run("run order --json");
    const { execution_id } = JSON.parse(stdout) as Run;
    root = await service.json(`executions show ${execution_id}`);
  });

  /** Ids of the names. */
  const idOf = (name: string) =>
    [root, ...root.descendants].find((run) => run.name === name)?.execution_id ?? "";

  const onTerminal = async (args: readonly string[], columns: number) => {
    const { code, screen } = await svcOnTerminal(runtime, args, { env: service.env, columns });
    expect(code).toBe(0);
    const lines = stripVTControlCharacters(screen).replaceAll("\r", "").trimEnd().split("\n");
    return lines;
  };

  test("is one tree, in the order of time, with the parents of all", () => {
    expect(root.child_count).toBe(2);
    expect(root.descendants).toMatchObject([
      { name: "warehouse", parent_execution_id: root.execution_id, child_count: 1 },
      { name: "reserve", parent_execution_id: idOf("warehouse"), attempt: 2, child_count: 0 },
      { name: "notify", parent_execution_id: root.execution_id, child_count: 0 },
    ]);
    expect(root.descendants[1]?.attempts).toMatchObject([
      { attempt: 1, error: { name: "RangeError", stack: "" } },
    ]);
  });

  test("is drawn with states, durations, attempts and IDs on 80 columns, and with IDs below on 40", async () => {
    const treeOf = async (columns: number) => {
      const lines = await onTerminal(["executions", "show", root.execution_id], columns);
      const tree = lines.slice(lines.indexOf("Child executions") + 1);
      expect(Math.max(...tree.map((line) => line.length))).toBeLessThanOrEqual(columns);
      return tree.join("\n").replaceAll(/ +[\d.]+ m?s\b/g, " TOOK");
    };
    expect(await treeOf(80)).toBe(`  order               succeeded TOOK  ${root.execution_id}
  ├─ warehouse        succeeded TOOK  ${idOf("warehouse")}
  │  └─ reserve       succeeded TOOK  ${idOf("reserve")}
  │     └─ attempt 1  failed TOOK  RangeError: no stock in the first ware…
  └─ notify           succeeded TOOK  ${idOf("notify")}`);
    expect(await treeOf(40)).toBe(`  order               succeeded TOOK
    ${root.execution_id}
  ├─ warehouse        succeeded TOOK
  │    ${idOf("warehouse")}
  │  └─ reserve       succeeded TOOK
  │       ${idOf("reserve")}
  │     └─ attempt 1  failed TOOK
  │          RangeError: no stock in th…
  └─ notify           succeeded TOOK
       ${idOf("notify")}`);
  });
});
