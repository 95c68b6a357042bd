/** Reading the log while other processes write it. */
import { describe, expect, test } from "vitest";
import type { Engine, Program, Row } from "../../server/store/engine.ts";
import { insertLogs, logTail, type NewLog } from "../../server/store/tables/logs.ts";
import { orgId } from "../support/store.ts";
import { engineNames, stores } from "./stores.ts";

const filter = { name: "", executionId: "", environment: "", audit: false };

const entry = (message: string): NewLog => ({
  org_id: orgId,
  at: Date.now(),
  level: "info",
  source: "console",
  message,
  execution_id: null,
  deployment_id: null,
  name: null,
  environment: null,
});

/** Runs a program with a pause between its statements, as another process may have one. */
async function interleaved<Result>(
  engine: Engine,
  program: () => Program<Result>,
  pause: () => Promise<unknown>,
): Promise<Result> {
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
}

describe.each(engineNames)("on %s", (name) => {
  test("the tail of a log misses no entry that arrives while it is read", async () => {
    const engine = await (await stores[name]()).open();
    let written = 0;
    const write = () => engine.write(() => insertLogs([entry(`line ${++written}`)]));
    await write();
    const { rows, after } = await interleaved(engine, () => logTail(orgId, filter, 100), write);
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: after }, (_, index) => index + 1));
  });
});
