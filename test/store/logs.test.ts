/** Reading the log while other processes write it, and with filters. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { TailLogsRequestSchema } from "../../proto/svc/v1/execution_pb.ts";
import { filterOf, type LogRequest } from "../../server/services/logs/filter.ts";
import { Members, maxMembers } from "../../server/services/logs/members.ts";
import { LogReader } from "../../server/services/logs/reader.ts";
import type { Engine, Program, Row } from "../../server/store/engine.ts";
import { allLogs, insertLogs, type LogRow, type NewLog } from "../../server/store/tables/logs.ts";
import { insertExecutions, type NewExecution } from "../../server/store/tables/new-executions.ts";
import { orgId } from "../support/store.ts";
import { engineNames, stores } from "./stores.ts";

const entry = (message: string, more: Partial<NewLog> = {}): NewLog => ({
  org_id: orgId,
  at: Date.now(),
  level: "info",
  source: "console",
  message,
  execution_id: null,
  deployment_id: null,
  name: null,
  environment: null,
  ...more,
});

const execution = (id: string, parent: string | null): NewExecution => ({
  org_id: orgId,
  execution_id: id,
  kind: "agent",
  name: "any",
  origin: parent === null ? "run" : "child",
  deployment_id: "dep_1",
  environment: "production",
  input: "{}",
  parent_execution_id: parent,
  parent_key: parent === null ? null : `=${id}`,
  created_at: 1,
});

/** An engine that calls `pause` between two statements of a program, as another process may have one. */
function interrupted(engine: Engine, pause: () => Promise<unknown>): Engine {
  const read = async <Result>(program: () => Program<Result>): Promise<Result> => {
    const steps = program();
    let step = steps.next();
    while (!step.done) {
      const { value } = step;
      const rows = await engine.read(function* (): Program<Row[]> {
        return yield value;
      });
      await pause();
      step = steps.next(rows);
    }
    return step.value;
  };
  return { ordered: engine.ordered, read, write: engine.write, listen: engine.listen, close: engine.close };
}

async function collect(batches: AsyncIterable<readonly LogRow[]>): Promise<LogRow[]> {
  return (await Array.fromAsync(batches)).flat();
}

const messages = (rows: readonly LogRow[]) => rows.map(({ message }) => message);

describe.each(engineNames)("the log on %s", (name) => {
  test("is read without gaps while entries arrive: the last ones, and then the next ones", async () => {
    const engine = await (await stores[name]()).open();
    let written = 0;
    const write = () => engine.write(() => insertLogs([entry(`line ${++written}`)]));
    await write();
    const reader = new LogReader(interrupted(engine, write), orgId, allLogs);
    const rows = [...(await reader.tail(100)), ...(await collect(reader.read()))];
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
    expect(rows.length).toBeGreaterThan(3);
  });

  test("is filtered by level, time, text and fields, over long ranges that do not match", async () => {
    const engine = await (await stores[name]()).open();
    const noise = Array.from({ length: 21_000 }, (_, index) => entry("noise", { at: index }));
    const at = 100_000_000;
    const some = [
      entry("first 100%", { at, level: "error" }),
      entry("second", { at: at + 1, level: "warn", fields: '{"order":17,"user":{"name":"Ada"}}' }),
      entry("third", { at: at + 2, fields: '{"order":"17","note":"\\"order\\":18,"}' }),
      entry("fourth", { at: at + 3, level: "debug", fields: '{"order":170}' }),
    ];
    await engine.write(() => insertLogs([...some, ...noise]));
    await engine.write(() => insertLogs(noise.map((row) => ({ ...row, at: at + 10 }))));
    const find = async (filter: Partial<LogRequest>, lines: number) => {
      const request = filterOf(create(TailLogsRequestSchema, filter));
      const tail = messages(await new LogReader(engine, orgId, request).tail(lines));
      const all = messages(await collect(new LogReader(engine, orgId, request).read()));
      expect(tail).toEqual(all.slice(-lines));
      return all.filter((message) => message !== "noise");
    };
    expect(await find({ level: "warn" }, 1)).toEqual(["first 100%", "second"]);
    expect(await find({ contains: "0%" }, 5)).toEqual(["first 100%"]);
    expect(await find({ contains: '"Ada"' }, 5)).toEqual(["second"]);
    expect(await find({ contains: "FIRST" }, 5)).toEqual([]);
    expect(await find({ fields: ["order=17"] }, 5)).toEqual(["second", "third"]);
    expect(await find({ fields: ["order=17", "name=Ada"] }, 5)).toEqual(["second"]);
    expect(await find({ fields: ["order=18"] }, 5)).toEqual([]);
    expect(await find({ fields: ["order=170.0"] }, 5)).toEqual(["fourth"]);
    const late = filterOf(create(TailLogsRequestSchema, { since: timestampFromMs(at + 10) }));
    const reader = new LogReader(engine, orgId, late);
    await reader.startAtTime();
    expect((await collect(reader.read())).length).toBe(noise.length);
    expect((await new LogReader(engine, orgId, late).tail(50_000)).length).toBe(noise.length);
  });

  test("of an execution contains the entries of child executions that start later", async () => {
    const engine = await (await stores[name]()).open();
    await engine.write(() => insertExecutions([execution("exe_a", null), execution("exe_b", null)]));
    const write = (id: string, ...texts: string[]) =>
      engine.write(() => insertLogs(texts.map((text) => entry(text, { execution_id: id }))));
    await write("exe_a", "a1");
    await write("exe_b", "b1");
    const filter = { ...allLogs, executionIds: ["exe_a"] };
    const members = new Members(engine, orgId, "exe_a");
    const reader = new LogReader(engine, orgId, filter, 0, members);
    expect(messages(await reader.tail(10))).toEqual(["a1"]);
    await engine.write(() =>
      insertExecutions([execution("exe_a1", "exe_a"), execution("exe_a11", "exe_a1")]),
    );
    await write("exe_a11", "a11");
    await write("exe_a1", "a1 1", "a1 2");
    await write("exe_b", "b2");
    await write("exe_a", "a2");
    expect(messages(await collect(reader.read()))).toEqual(["a11", "a1 1", "a1 2", "a2"]);
    const again = new LogReader(engine, orgId, filter, 0, new Members(engine, orgId, "exe_a"));
    expect(messages(await again.tail(3))).toEqual(["a1 1", "a1 2", "a2"]);
    expect(members.isComplete).toBe(true);
    const many = Array.from({ length: maxMembers }, (_, index) => execution(`exe_m${index}`, "exe_b"));
    await engine.write(() => insertExecutions(many));
    const wide = new Members(engine, orgId, "exe_b");
    await wide.refresh();
    expect([wide.ids.length, wide.isComplete]).toEqual([maxMembers, false]);
  });
});
