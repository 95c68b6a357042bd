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
  ctx.log.warn("packed", { order: 17, by: { name: "Ada" }, note: "two words" });
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
  "agents/notify.ts": `import { print } from "../lib/print.ts";
export default ({ text }) => print(text);
`,
  "lib/print.ts": "export const print = (text: string): void => console.log(text);\n",
  "lib/unused.ts": "export {};\n",
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
      // The widths of durations decide where the error is cut.
      return tree
        .join("\n")
        .replaceAll(/ +[\d.]+ m?s\b/g, " TOOK")
        .replace(/(?<=TOOK {2}RangeError: no stock).*…/, "…");
    };
    expect(await treeOf(80)).toBe(`  order               succeeded TOOK  ${root.execution_id}
  ├─ warehouse        succeeded TOOK  ${idOf("warehouse")}
  │  └─ reserve       succeeded TOOK  ${idOf("reserve")}
  │     └─ attempt 1  failed TOOK  RangeError: no stock…
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

  test("has one log with the entries of all executions in order, marked with target and short ID", async () => {
    const end = (name: string) => idOf(name).slice(-6);
    const lines = await onTerminal(["logs", "--execution", root.execution_id], 80);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    const entries = lines.map((line) =>
      line
        .replace(/^[\d:.]{12} /, "")
        .replaceAll(/ +/g, " ")
        .trim(),
    );
    expect(entries.join(" ")).toBe(
      [
        `order ${end("order")} order received`,
        `warehouse ${end("warehouse")} at the warehouse`,
        `reserve ${end("reserve")} reserving`,
        `reserve ${end("reserve")} warn Attempt 1 failed: RangeError: no stock in the first warehouse, which is a long message. The next attempt is due in 0.0 s.`,
        `reserve ${end("reserve")} reserving`,
        `order ${end("order")} warn packed order=17 by={"name":"Ada"} note="two words"`,
        `notify ${end("notify")} packed`,
        `order ${end("order")} order done`,
      ].join(" "),
    );
    const own = await service.run(`logs --execution ${root.execution_id} --no-children`);
    expect(own.stdout.split("\n").map((line) => line.replace(/^\S+ +order +/, ""))).toEqual([
      "order received",
      'warn  packed  order=17 by={"name":"Ada"} note="two words"',
      "order done",
      "",
    ]);
  });

  test("logs structured entries, which filters find", async () => {
    const find = async (line: string) => {
      const { code, stdout, stderr } = await service.run(`logs ${line} --json`);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const entries = stdout.split("\n").filter((text) => text !== "");
      return entries.map((text) => JSON.parse(text) as { message: string; fields?: unknown });
    };
    const [packed, ...others] = await find("--field order=17 --field name=Ada --since 1h");
    expect(packed).toMatchObject({
      message: "packed",
      level: "warn",
      fields: { order: 17, by: { name: "Ada" }, note: "two words" },
    });
    expect(others).toEqual([]);
    expect((await find("--grep Ada")).length).toBe(1);
    expect((await find("--level warn --agent reserve")).length).toBe(1);
    expect((await find("--level error --since 1h")).length).toBe(0);
    expect((await find("--grep order --lines 1"))[0]).toMatchObject({ message: "order done" });
    const wrong = await service.run("logs --field order");
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("it must be name=value")]);
  });

  test("is in pages of the list of executions", async () => {
    type Page = { executions: Run[]; next_page_token: string };
    const names = ({ executions }: Page) => executions.map(({ name }) => name);
    const first = await service.json<Page>("executions --limit 1");
    const { stderr } = await service.run("executions --limit 1");
    expect(stderr).toContain(`--page-token ${first.next_page_token}`);
    const second = await service.json<Page>(`executions --limit 2 --page-token ${first.next_page_token}`);
    expect([...names(first), ...names(second)]).toEqual(["notify", "reserve", "warehouse"]);
    const rest = await service.json<Page>(
      `executions --all --limit 1 --page-token ${second.next_page_token}`,
    );
    expect([names(rest), rest.next_page_token]).toEqual([["order"], ""]);
    expect(names(await service.json<Page>("executions --all")).length).toBe(4);
    for (const list of ["keys", "webhook list"]) {
      expect(await service.json(`${list} --all`)).toMatchObject({ next_page_token: "" });
    }
  });
});
