import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { nextRun, parseCron } from "../../../../project/cron.ts";
import { planTicks } from "../../../../server/schedules/plan.ts";
import { deploy } from "../../../support/project.ts";
import { TestServer } from "../../../support/server.ts";
import type { Options, Row } from "../../runner/case.ts";
import { interleave, programsOf } from "../../runner/interleave.ts";
import { acceptOnly, highLimits } from "../../runner/server.ts";
import { processorTime } from "../../scaling-model/processor-time.ts";

const total = 100_000;
const planned = 2_000;
const due = 10_000;
const crons = ["* * * * *", "*/5 * * * *", "0 * * * *", "30 2 * * *", "0 9 * * 1-5", "15 10 1,15 * *"];
const zones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"];

/** Schedules in the store of one server, compared with an empty store, and the time to plan a schedule that is due. */
export async function run({ rounds, seconds }: Options): Promise<Row[]> {
  const server = new TestServer("node", { env: { ...highLimits, ...acceptOnly.env } });
  await server.start();
  try {
    const schedules = { agents: { bench: { cron: "0 0 1 1 *" } } };
    await deploy(server, { agents: { bench: acceptOnly.agent }, schedules });
    const idle = async (): Promise<number> => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const before = processorTime(server.pid).own;
      await new Promise((resolve) => setTimeout(resolve, seconds * 2_000));
      return (processorTime(server.pid).own - before) / (seconds * 2);
    };
    const few = [await idle()];
    const db = new DatabaseSync(join(server.dataDir, "svc.db"));
    db.exec("PRAGMA busy_timeout = 10000");
    copySchedule(db);
    const many = [await idle()];
    const startedAt = performance.now();
    makeDue(db);
    const count = db.prepare("SELECT COUNT(*) AS n FROM executions WHERE origin = 'schedule'");
    while (Number(count.get()?.n) < due) await new Promise((resolve) => setTimeout(resolve, 10));
    const started = due / ((performance.now() - startedAt) / 1000);
    db.close();
    return [
      {
        what: "planning of a due schedule",
        unit: "schedules per second of processor time",
        programs: await interleave({ svc: async () => planning() }, { rounds: rounds * 2, warmUps: 1 }),
      },
      {
        what: "100,000 schedules, none due",
        unit: "ms of processor time for each second",
        programs: programsOf(
          new Map([
            ["svc", many],
            ["with one schedule", few],
          ]),
        ),
        note: "in steps of 10 ms",
      },
      {
        what: "10,000 of 100,000 schedules due at once, until all executions are queued",
        unit: "schedules/s",
        programs: programsOf(new Map([["svc", [started]]])),
        note: "includes up to a second until the next pass; one run",
      },
    ];
  } finally {
    await server.discard(false);
  }
}

/** One schedule of a target in each environment. */
function copySchedule(db: DatabaseSync): void {
  const row = db.prepare("SELECT * FROM schedules").get() ?? {};
  const columns = Object.keys(row);
  const insert = db.prepare(
    `INSERT INTO schedules (${columns.join(", ")}) VALUES (${columns.map((name) => `$${name}`).join(", ")})`,
  );
  db.exec("BEGIN IMMEDIATE");
  for (let n = 1; n < total; n++) {
    const digits = String(n).padStart(8, "0");
    insert.run({
      ...row,
      schedule_id: String(row.schedule_id).slice(0, -8) + digits,
      environment: `e-${digits}`,
    });
  }
  db.exec("COMMIT");
}

/** They have missed a run of this minute or the last one, which they catch up. */
function makeDue(db: DatabaseSync): void {
  const row = db.prepare("SELECT definition FROM schedules LIMIT 1").get();
  const definition = { ...JSON.parse(String(row?.definition)), cron: "* * * * *", catchUpSeconds: 3600 };
  const sql = `UPDATE schedules SET definition = ?, next_due_at = ? WHERE schedule_id IN
    (SELECT schedule_id FROM schedules ORDER BY schedule_id LIMIT ${due})`;
  db.prepare(sql).run(JSON.stringify(definition), Date.now() - 60_000);
}

/** Schedules per second of processor time. */
function planning(): number {
  const now = Date.UTC(2026, 8, 17, 12);
  const all = crons.flatMap((cron) => zones.map((timezone) => ({ cron, timezone, catchUpSeconds: 0 })));
  const dueAt = all.map(
    ({ cron, timezone }) => nextRun(parseCron(cron), timezone, new Date(now))?.getTime() ?? 0,
  );
  const before = process.cpuUsage();
  for (let n = 0; n < planned; n++) {
    const index = n % all.length;
    const schedule = all[index];
    const dueMs = dueAt[index];
    if (schedule === undefined || dueMs === undefined) throw new Error("There are no schedules.");
    assert.equal(planTicks(schedule, dueMs, dueMs + 500, dueMs).ticks.length, 1);
  }
  const { user, system } = process.cpuUsage(before);
  return planned / ((user + system) / 1e6);
}
