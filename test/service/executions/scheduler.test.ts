import { describe, expect, onTestFinished, test, vi } from "vitest";
import { nextRun, parseCron } from "../../../project/cron.ts";
import { type Engine, run } from "../../../server/store/engine.ts";
import { setPaused } from "../../../server/store/tables/schedules.ts";
import { seeded } from "../../crash/random.ts";
import { runsBetween } from "../../cron/runs.ts";
import {
  activateSchedules,
  openStore,
  orgId,
  rows,
  type Schedules,
  temporaryFolder,
} from "../../support/store.ts";
import { CrashingEngine, newScheduler, runsOf, SimulatedClock, ticksOf } from "../simulation.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const at = (text: string) => Date.parse(text);

/** A store with these schedules, a clock, and one scheduler after its first pass. */
async function setUp(schedules: Schedules, start: string) {
  const engine = openStore();
  const clock = new SimulatedClock(at(start));
  const deploymentId = await activateSchedules(engine, schedules, clock.wallMs());
  const { scheduler, woken } = newScheduler(engine, clock);
  await scheduler.pass();
  /** Advances the clock step by step, with a pass after each step. */
  const advance = async (ms: number, everyMs = second) => {
    for (let passed = 0; passed < ms; passed += everyMs) {
      clock.advance(everyMs);
      await scheduler.pass();
    }
  };
  const shownTicks = async () =>
    (await ticksOf(engine)).map(
      ({ name, dueMs, outcome }) => `${name} ${new Date(dueMs).toISOString()} ${outcome}`,
    );
  return { engine, clock, scheduler, woken, deploymentId, advance, shownTicks };
}

const finish = (engine: Engine, status = "succeeded") =>
  engine.write(() => run("UPDATE executions SET status = ? WHERE status IN ('queued', 'running')", status));

describe("a schedule", () => {
  test("starts a run that is overdue when the clock was set back during an outage", async () => {
    const { clock, scheduler, shownTicks } = await setUp(
      { hourly: { cron: "0 * * * *", catchUpSeconds: 3600 } },
      "2026-03-02T11:59:30Z",
    );
    // No pass succeeds for a minute.
    clock.advance(minute);
    clock.set(clock.wallMs() - 5 * second);
    await scheduler.pass();
    expect(await shownTicks()).toEqual(["hourly 2026-03-02T12:00:00.000Z run"]);
  });

  test("runs at its time, with its input, on its deployment", async () => {
    const input = { report: "daily", list: [1] };
    const { engine, advance, shownTicks, woken, deploymentId } = await setUp(
      { nightly: { cron: "30 2 * * *", timezone: "Asia/Kolkata", input } },
      "2026-03-01T20:59:55Z",
    );
    await advance(4 * second);
    expect(await shownTicks()).toEqual([]);
    await advance(2 * second);
    expect(await shownTicks()).toEqual(["nightly 2026-03-01T21:00:00.000Z run"]);
    const executions = await rows(engine, "SELECT * FROM executions");
    expect(executions).toMatchObject([
      {
        org_id: orgId,
        name: "nightly",
        kind: "agent",
        origin: "schedule",
        status: "queued",
        deployment_id: deploymentId,
        environment: "production",
        input: JSON.stringify(input),
      },
    ]);
    expect(woken).toEqual([deploymentId]);
    const [tick] = await ticksOf(engine);
    expect(tick).toMatchObject({ reason: "On time.", executionId: executions[0]?.execution_id });
  });

  test("of several ones of a target runs the target, and keeps its ticks across deployments", async () => {
    const daily = { cron: "0 6 * * *", target: "summary", input: { days: 1 } };
    const weekly = { cron: "0 7 * * *", target: "summary", input: { days: 7 }, catchUpSeconds: 7200 };
    const schedules = { "summary.daily": daily, "summary.weekly": weekly };
    const { engine, clock, scheduler, shownTicks } = await setUp(schedules, "2026-03-01T05:59:59Z");
    clock.advance(2 * second);
    await scheduler.pass();
    await activateSchedules(engine, schedules, clock.wallMs());
    // A pass an hour late: the server was down.
    clock.advance(90 * minute);
    await scheduler.pass();
    expect(await shownTicks()).toEqual([
      "summary.daily 2026-03-01T06:00:00.000Z run",
      "summary.weekly 2026-03-01T07:00:00.000Z run",
    ]);
    const executions = await rows(engine, "SELECT name, input FROM executions ORDER BY execution_id");
    expect(executions).toEqual([
      { name: "summary", input: '{"days":1}' },
      { name: "summary", input: '{"days":7}' },
    ]);
  });

  test("is processed by the timer", async () => {
    const engine = openStore();
    const deploymentId = await activateSchedules(
      engine,
      { a: { cron: "* * * * *" } },
      at("2026-01-01T00:00:30Z"),
    );
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const { scheduler } = newScheduler(engine, new SimulatedClock(at("2026-01-01T00:01:05Z")));
    engine.listen("queued", resolve);
    onTestFinished(() => scheduler.close());
    scheduler.start();
    expect(await promise).toBe(deploymentId);
  });

  test("has no ticks while disabled or paused, and continues at its next time after it is resumed", async () => {
    const { engine, clock, advance, shownTicks } = await setUp(
      { off: { cron: "* * * * *", enabled: false }, held: { cron: "* * * * *", overlap: "allow" } },
      "2026-01-01T00:00:30Z",
    );
    const [held] = await rows<{ schedule_id: string }>(
      engine,
      "SELECT schedule_id FROM schedules WHERE name = 'held'",
    );
    const id = held?.schedule_id ?? "";
    await advance(minute);
    await engine.write(() => setPaused(orgId, id, true, null));
    await advance(10 * minute);
    const next = nextRun(parseCron("* * * * *"), "UTC", new Date(clock.wallMs()));
    await engine.write(() => setPaused(orgId, id, false, next?.getTime() ?? 0));
    await advance(minute);
    expect(await shownTicks()).toEqual([
      "held 2026-01-01T00:01:00.000Z run",
      "held 2026-01-01T00:12:00.000Z run",
    ]);
  });

  test("keeps a tick that is due when a new deployment is activated", async () => {
    const schedules = { minutely: { cron: "* * * * *", overlap: "allow" } } as const;
    const { engine, clock, advance, shownTicks } = await setUp(schedules, "2026-01-01T00:00:30Z");
    // After the tick and before the pass that would process it.
    clock.advance(30 * second + 400);
    await activateSchedules(engine, schedules, clock.wallMs());
    await advance(minute);
    expect(await shownTicks()).toEqual([
      "minutely 2026-01-01T00:01:00.000Z run",
      "minutely 2026-01-01T00:02:00.000Z run",
    ]);
  });

  test("ends with its deployment, and its waiting ticks are skipped", async () => {
    const { engine, clock, advance, shownTicks } = await setUp(
      { queued: { cron: "* * * * *", overlap: "queue" } },
      "2026-01-01T00:00:30Z",
    );
    await advance(2 * minute);
    await activateSchedules(engine, { other: { cron: "0 0 1 1 *" } }, clock.wallMs());
    await advance(2 * minute);
    expect(await shownTicks()).toEqual([
      "queued 2026-01-01T00:01:00.000Z run",
      "queued 2026-01-01T00:02:00.000Z skipped",
    ]);
  });
});

describe("a tick without a running scheduler", () => {
  test("is on time within ten seconds, as after a restart", async () => {
    const { engine, clock, shownTicks } = await setUp(
      { hourly: { cron: "0 * * * *" } },
      "2026-01-01T00:59:58Z",
    );
    clock.advance(11 * second);
    await newScheduler(engine, clock).scheduler.pass();
    expect(await shownTicks()).toEqual(["hourly 2026-01-01T01:00:00.000Z run"]);
  });

  test("is recorded as missed after that, with the reason, and logged", async () => {
    const { engine, clock, shownTicks } = await setUp(
      { hourly: { cron: "0 * * * *" } },
      "2026-01-01T00:59:58Z",
    );
    clock.advance(2 * hour);
    await newScheduler(engine, clock).scheduler.pass();
    expect(await shownTicks()).toEqual([
      "hourly 2026-01-01T01:00:00.000Z missed",
      "hourly 2026-01-01T02:00:00.000Z missed",
    ]);
    expect(await runsOf(engine)).toEqual([]);
    const reasons = (await ticksOf(engine)).map(({ reason }) => reason);
    expect(reasons).toEqual([
      "No scheduler was running at that time.",
      "No scheduler was running at that time, and catch_up is 0.",
    ]);
    const log = await rows<{ message: string; source: string }>(engine, "SELECT message, source FROM logs");
    expect(log.map(({ source }) => source)).toEqual(["schedule", "schedule"]);
    expect(log[0]?.message).toContain("due at 2026-01-01T01:00:00.000Z was missed");
  });

  test("runs late, once, if it is the latest and within catch_up", async () => {
    const { engine, clock, shownTicks } = await setUp(
      {
        hourly: { cron: "0 * * * *", catchUpSeconds: 1800 },
        late: { cron: "0 * * * *", catchUpSeconds: 60 },
      },
      "2026-01-01T00:30:00Z",
    );
    clock.advance(3 * hour - 10 * minute);
    for (let restarts = 0; restarts < 3; restarts++) await newScheduler(engine, clock).scheduler.pass();
    expect(await shownTicks()).toEqual([
      "hourly 2026-01-01T01:00:00.000Z missed",
      "hourly 2026-01-01T02:00:00.000Z missed",
      "hourly 2026-01-01T03:00:00.000Z run",
      "late 2026-01-01T01:00:00.000Z missed",
      "late 2026-01-01T02:00:00.000Z missed",
      "late 2026-01-01T03:00:00.000Z missed",
    ]);
    expect((await runsOf(engine)).length).toBe(1);
    const reasons = (await ticksOf(engine)).map(({ reason }) => reason);
    expect(reasons[2]).toBe("Caught up 1200 s late.");
    expect(reasons[5]).toContain("1200 s late is over catch_up (60 s)");
  });
});

describe("a tick while the previous run has not ended", () => {
  const every = { cron: "* * * * *" };

  test("is skipped by default, and names that run", async () => {
    const { engine, advance, shownTicks } = await setUp({ a: every }, "2026-01-01T00:00:30Z");
    await advance(2 * minute);
    await finish(engine);
    await advance(minute);
    expect(await shownTicks()).toEqual([
      "a 2026-01-01T00:01:00.000Z run",
      "a 2026-01-01T00:02:00.000Z skipped",
      "a 2026-01-01T00:03:00.000Z run",
    ]);
    const [first, skipped] = await ticksOf(engine);
    expect(skipped?.reason).toContain(first?.executionId ?? "none");
  });

  test("waits with overlap queue; the oldest runs first", async () => {
    const { engine, advance } = await setUp({ a: { ...every, overlap: "queue" } }, "2026-01-01T00:00:30Z");
    await advance(3 * minute);
    const outcomes = async () => (await ticksOf(engine)).map(({ outcome }) => outcome);
    expect(await outcomes()).toEqual(["run", "waiting", "waiting"]);
    await finish(engine);
    await advance(second);
    expect(await outcomes()).toEqual(["run", "run", "waiting"]);
    await finish(engine, "failed");
    await advance(second);
    expect(await outcomes()).toEqual(["run", "run", "run"]);
    expect((await runsOf(engine)).length).toBe(3);
  });

  test("waits in a queue of at most 100", async () => {
    const { engine, advance } = await setUp({ a: { ...every, overlap: "queue" } }, "2026-01-01T00:00:30Z");
    await advance(105 * minute, 10 * second);
    const ticks = await ticksOf(engine);
    expect(ticks.map(({ outcome }) => outcome)).toEqual([
      "run",
      ...Array.from({ length: 100 }, () => "waiting"),
      ...Array.from({ length: 4 }, () => "skipped"),
    ]);
    expect(ticks.at(-1)?.reason).toContain("100");
  });

  test("waits for its own schedule only, however many schedules are waiting", async () => {
    const schedules = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`s${index}`, { ...every, overlap: "queue" as const }]),
    );
    const { engine, advance } = await setUp(schedules, "2026-01-01T00:00:30Z");
    await advance(2 * minute, 10 * second);
    await engine.write(() => run("UPDATE executions SET status = 'succeeded' WHERE name = 's59'"));
    await advance(second);
    const ticks = (await ticksOf(engine)).filter(({ name }) => name === "s59");
    expect(ticks.map(({ outcome }) => outcome)).toEqual(["run", "run"]);
  });

  test("runs at the same time with overlap allow", async () => {
    const { engine, advance } = await setUp({ a: { ...every, overlap: "allow" } }, "2026-01-01T00:00:30Z");
    await advance(3 * minute);
    expect((await runsOf(engine)).length).toBe(3);
  });
});

describe("setting the clock", () => {
  const allowing = { cron: "*/10 * * * *", overlap: "allow" } as const;
  const uniqueRuns = async (engine: Engine) => {
    const ticks = (await ticksOf(engine)).filter(({ outcome }) => outcome === "run");
    const runs = await runsOf(engine);
    expect(runs.length).toBe(ticks.length);
    expect(new Set(ticks.map(({ executionId }) => executionId)).size).toBe(runs.length);
    return ticks.map(({ dueMs }) => new Date(dueMs).toISOString().slice(11, 16));
  };

  test("back an hour neither repeats nor delays runs", async () => {
    const { engine, clock, advance } = await setUp({ a: allowing }, "2026-01-01T02:55:00Z");
    await advance(30 * minute, 5 * second);
    clock.set(clock.wallMs() - hour);
    await advance(30 * minute, 5 * second);
    expect(await uniqueRuns(engine)).toEqual(["02:30", "02:40", "02:50", "03:00", "03:10", "03:20"]);
    await advance(40 * minute, 5 * second);
    expect((await uniqueRuns(engine)).at(-1)).toBe("03:30");
  });

  test("back by seconds, repeatedly, neither repeats nor delays runs", async () => {
    const { engine, clock, advance } = await setUp(
      { a: { ...allowing, cron: "* * * * *" } },
      "2026-01-01T00:00:30Z",
    );
    for (let minutes = 0; minutes < 20; minutes++) {
      await advance(minute, 5 * second);
      clock.set(clock.wallMs() - 1500);
    }
    const run = await uniqueRuns(engine);
    expect(run).toEqual(run.map((_, index) => `00:${String(index + 1).padStart(2, "0")}`));
    expect(run.length).toBeGreaterThanOrEqual(19);
  });

  test("forward a day misses the ticks of that day, and the schedule continues", async () => {
    const { engine, clock, advance } = await setUp(
      { a: { ...allowing, cron: "0 * * * *" } },
      "2026-01-01T00:30:00Z",
    );
    await advance(hour, 10 * second);
    clock.set(clock.wallMs() + day);
    await advance(hour, 10 * second);
    const ticks = await ticksOf(engine);
    expect(ticks.map(({ outcome }) => outcome)).toEqual([
      "run",
      ...Array.from({ length: 24 }, () => "missed"),
      "run",
    ]);
    expect(await uniqueRuns(engine)).toEqual(["01:00", "02:00"]);
  });

  test("forward a day and back again loses no later ticks", async () => {
    const { engine, clock, advance } = await setUp(
      { a: { ...allowing, cron: "0 * * * *" } },
      "2026-01-01T00:30:00Z",
    );
    clock.set(clock.wallMs() + day);
    await advance(10 * second);
    clock.set(clock.wallMs() - day);
    await advance(3 * hour, 10 * second);
    expect(await uniqueRuns(engine)).toEqual(["01:00", "02:00", "03:00"]);
  });
});

describe("many schedules", () => {
  /** The long variant is `SCHEDULES=100000`. */
  const count = Number(process.env.SCHEDULES ?? 10_000);

  test(`${count} use less than 5 % of a core while none is due, and a tenth due at once starts within a minute`, async () => {
    const engine = openStore();
    const start = at("2026-01-01T11:00:00Z");
    const schedules = Object.fromEntries(
      Array.from({ length: count }, (_, number) => [
        `s${number}`,
        number < count / 10 ? { cron: "1 12 * * *" } : { cron: `${number % 60} 5 * * *` },
      ]),
    );
    await activateSchedules(engine, schedules, start);
    const clock = new SimulatedClock(at("2026-01-01T12:00:00Z"));
    const { scheduler } = newScheduler(engine, clock);
    const before = process.cpuUsage();
    for (let seconds = 0; seconds < 60; seconds++) {
      await scheduler.pass();
      clock.advance(second);
    }
    const used = process.cpuUsage(before);
    expect((used.user + used.system) / 1000).toBeLessThan(0.05 * minute);
    expect(await runsOf(engine)).toEqual([]);
    await scheduler.pass();
    expect((await runsOf(engine)).length).toBe(count / 10);
  });
});

describe("two schedulers on one store, killed at random", () => {
  /** Until after the clocks change by default; the long variant is `SIMULATED_DAYS=10`. */
  const days = Number(process.env.SIMULATED_DAYS ?? 0.4);

  test(`in ${days} simulated days, each tick has one row and at most one execution`, {
    timeout: 60_000 + days * 60_000,
  }, async () => {
    const schedules: Schedules = {
      minutely: { cron: "* * * * *", overlap: "allow" },
      "new-york": { cron: "*/7 1-3 * * *", timezone: "America/New_York", overlap: "allow" },
      caught: { cron: "13 * * * *", overlap: "allow", catchUpSeconds: 7200 },
      queued: { cron: "*/3 * * * *", overlap: "queue" },
      skipped: { cron: "*/2 * * * *", overlap: "skip" },
    };
    // New York's clocks go forward in the first night.
    const start = at("2026-03-08T00:00:10Z");
    const end = start + days * day;
    const seed = Number(process.env.SIMULATION_SEED ?? Date.now() % 1_000_000);
    const random = seeded(seed);
    const folder = temporaryFolder();
    const clock = new SimulatedClock(start);
    const engines = [openStore(folder), openStore(folder)];
    const [store] = engines;
    if (store === undefined) throw new Error("no store");
    await activateSchedules(store, schedules, start);

    /** Committed passes: their time, and since when their scheduler had been awake. */
    const passes: { atMs: number; awakeSinceMs: number }[] = [];
    const silenced = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => silenced.mockRestore());
    const workers = engines.map((engine) => {
      let lastPassMs: number | null = null;
      let writes = 0;
      const startWorker = () => {
        lastPassMs = null;
        const crashing = new CrashingEngine(
          engine,
          () => (random() < 0.004 ? (random() < 0.5 ? "crash before" : "crash after") : "continue"),
          () => {
            if (writes++ === 0)
              passes.push({ atMs: clock.wallMs(), awakeSinceMs: lastPassMs ?? clock.wallMs() });
          },
        );
        return { crashing, scheduler: newScheduler(crashing, clock).scheduler, startsAtMs: 0 };
      };
      let worker = startWorker();
      return async () => {
        if (worker.crashing.crashed) {
          // Down for up to five minutes, sometimes both workers at once.
          if (worker.startsAtMs === 0) worker.startsAtMs = clock.wallMs() + random() * 5 * minute;
          if (clock.wallMs() < worker.startsAtMs) return;
          worker = startWorker();
        }
        writes = 0;
        await worker.scheduler.pass();
        lastPassMs = clock.wallMs();
      };
    });

    while (clock.wallMs() < end) {
      clock.advance(2 * second + Math.floor(random() * 6 * second));
      // Concurrently, as two processes.
      await Promise.all(workers.map((pass) => pass()));
      if (random() < 0.05) await finish(store);
    }

    const ticks = await ticksOf(store);
    const runs = await runsOf(store);
    const lastPass = passes.at(-1)?.atMs ?? start;
    for (const [name, { cron, timezone = "UTC" }] of Object.entries(schedules)) {
      const own = ticks.filter((tick) => tick.name === name);
      const due = runsBetween(cron, timezone, start, lastPass);
      expect(
        own.map(({ dueMs }) => new Date(dueMs).toISOString()),
        `${name}, seed ${seed}`,
      ).toEqual(due.map((time) => new Date(time).toISOString()));
    }
    // Each run has one execution, and each execution belongs to a run.
    const ran = ticks.filter(({ outcome }) => outcome === "run");
    expect(ran.map(({ executionId }) => executionId).toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
    expect(ticks.filter(({ outcome, executionId }) => outcome !== "run" && executionId !== null)).toEqual([]);
    // A tick ran if the scheduler that processed it had been awake at its time, and was missed otherwise.
    for (const name of ["minutely", "new-york"]) {
      let next = 0;
      for (const tick of ticks.filter((candidate) => candidate.name === name)) {
        while ((passes[next]?.atMs ?? end) < tick.dueMs) next++;
        const pass = passes[next];
        const onTime = pass !== undefined && tick.dueMs >= pass.awakeSinceMs - 10 * second;
        expect(tick.outcome, `${JSON.stringify(tick)} by ${JSON.stringify(pass)}, seed ${seed}`).toBe(
          onTime ? "run" : "missed",
        );
      }
    }
    for (const name of ["queued", "caught"]) {
      const lost = ticks.filter((tick) => tick.name === name && tick.outcome === "skipped");
      expect(lost, `seed ${seed}`).toEqual([]);
    }
    // The simulation covered every outcome.
    const outcomes = new Set(ticks.map(({ outcome }) => outcome));
    expect(outcomes).toEqual(
      new Set(["run", "missed", "skipped", ...(outcomes.has("waiting") ? ["waiting"] : [])]),
    );
  });
});
