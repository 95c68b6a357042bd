import { Accepting } from "../../runner/accepting.ts";
import type { Options, Row } from "../../runner/case.ts";
import { fill } from "../../runner/fill.ts";
import { programsOf } from "../../runner/interleave.ts";
import { acceptOnly, Store, withServer } from "../../runner/server.ts";

/** A third of a million: a million takes three times as long to write, and costs as much for each execution. */
const backlogs = [0, 10_000, 100_000, 333_000];
const unfinished = "status IN ('queued', 'running')";

/** Accepting with a backlog that is not due, and executing with one that is, each compared with no or a short backlog. */
export async function run({ rounds, seconds }: Options): Promise<Row[]> {
  const accepted = await withServer(acceptOnly, async (server, url) => {
    const accepting = new Accepting({ url, bodyBytes: 150, seconds: seconds / 2, headers: {} });
    await accepting.measure();
    const found: number[][] = [];
    let filled = 0;
    for (const backlog of backlogs) {
      fill(server, backlog - filled, { dueAt: Date.now() + 3_600_000 });
      filled = backlog;
      const values: number[] = [];
      for (let round = 0; round < rounds; round++) values.push((await accepting.measure()).value);
      found.push(values);
    }
    return found;
  });
  const executed: number[][] = [];
  for (const backlog of backlogs.slice(1)) executed.push(await executing(backlog, rounds, seconds / 2));
  return [
    ...rowsOf("accepting", "webhooks/s", backlogs, accepted),
    ...rowsOf("executing", "executions/s", backlogs.slice(1), executed),
  ];
}

/** Finished executions per second while the backlog is executed. */
async function executing(backlog: number, rounds: number, seconds: number): Promise<number[]> {
  return withServer({}, async (server, url) => {
    await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    const store = new Store(server);
    await store.untilDrained();
    fill(server, backlog);
    const values: number[] = [];
    while (store.ended < backlog / 10) await new Promise((resolve) => setTimeout(resolve, 20));
    for (let round = 0; round < rounds && store.count(unfinished) > 0; round++) {
      const [before, startedAt] = [store.ended, performance.now()];
      const waitMs = Math.min(seconds * 1000, backlog / 30);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      values.push((store.ended - before) / ((performance.now() - startedAt) / 1000));
    }
    store.close();
    return values;
  });
}

function rowsOf(what: string, unit: string, sizes: readonly number[], values: readonly number[][]): Row[] {
  return sizes.map((size, index) => {
    const own = values[index] ?? [];
    const programs = programsOf(
      new Map([
        ["svc", own],
        [`with a backlog of ${sizes[0]?.toLocaleString("en-US")}`, values[0] ?? []],
      ]),
    );
    const short = programs.slice(0, index === 0 ? 1 : 2);
    return { what: `${what}, backlog of ${size.toLocaleString("en-US")}`, unit, programs: short, at: size };
  });
}
