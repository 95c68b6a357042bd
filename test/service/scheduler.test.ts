import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parseCron, runsBetween } from "../../project/cron.ts";
import { type Engine, run } from "../../server/store/engine.ts";
import { setPaused } from "../../server/store/schedules.ts";
import { seeded } from "../crash/random.ts";
import {
  activateSchedules,
  openStore,
  orgId,
  rows,
  type Schedules,
  temporaryFolder,
} from "../support/store.ts";
import { MortalEngine, newScheduler, runsOf, SimulatedClock, ticksOf } from "./simulation.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const at = (text: string) => Date.parse(text);

/** A store with these schedules, a clock, and one scheduler that has been awake for a moment. */
async function setUp(schedules: Schedules, start: string) {
  const engine = openStore();
  const clock = new SimulatedClock(at(start));
  const deploymentId = await activateSchedules(engine, schedules, clock.wallMs());
  const { scheduler, woken } = newScheduler(engine, clock);
  await scheduler.pass();
  /** Lets so much time pass, with a pass each second or as often as given. */
  const live = async (ms: number, everyMs = second) => {
    for (let passed = 0; passed < ms; passed += everyMs) {
      clock.advance(everyMs);
      await scheduler.pass();
    }
  };
  const told = async () =>
    (await ticksOf(engine)).map(
      ({ name, dueMs, outcome }) => `${name} ${new Date(dueMs).toISOString()} ${outcome}`,
    );
  return { engine, clock, scheduler, woken, deploymentId, live, told };
}

const finish = (engine: Engine, status = "succeeded") =>
  engine.write(() => run("UPDATE executions SET status = ? WHERE status IN ('queued', 'running')", status));

describe("a schedule", () => {
  test("is run at its time, with its input, on its deployment", async () => {
    const input = { report: "daily", list: [1] };
    const { engine, live, told, woken, deploymentId } = await setUp(
      { nightly: { cron: "30 2 * * *", timezone: "Asia/Kolkata", input } },
      "2026-03-01T20:59:55Z",
    );
    await live(4 * second);
    expect(await told()).toEqual([]);
    await live(2 * second);
    expect(await told()).toEqual(["nightly 2026-03-01T21:00:00.000Z run"]);
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

  test("is decided on the beat, without being told", async () => {
    const engine = openStore();
    const deploymentId = await activateSchedules(
      engine,
      { a: { cron: "* * * * *" } },
      at("2026-01-01T00:00:30Z"),
    );
    const { promise, resolve } = Promise.withResolvers<string>();
    const { scheduler } = newScheduler(engine, new SimulatedClock(at("2026-01-01T00:01:05Z")), resolve);
    onTestFinished(() => scheduler.close());
    scheduler.start();
    expect(await promise).toBe(deploymentId);
  });

  test("that is disabled or paused has no ticks, and goes on from its next time when it is resumed", async () => {
    const { engine, clock, live, told } = await setUp(
      { off: { cron: "* * * * *", enabled: false }, held: { cron: "* * * * *", overlap: "allow" } },
      "2026-01-01T00:00:30Z",
    );
    const [held] = await rows<{ schedule_id: string }>(
      engine,
      "SELECT schedule_id FROM schedules WHERE name = 'held'",
    );
    const id = held?.schedule_id ?? "";
    await live(minute);
    await engine.write(() => setPaused(orgId, id, true, null));
    await live(10 * minute);
    const [next] = runsBetween(
      parseCron("* * * * *"),
      "UTC",
      new Date(clock.wallMs()),
      new Date(clock.wallMs() + hour),
      1,
    );
    await engine.write(() => setPaused(orgId, id, false, next?.getTime() ?? 0));
    await live(minute);
    expect(await told()).toEqual(["held 2026-01-01T00:01:00.000Z run", "held 2026-01-01T00:12:00.000Z run"]);
  });

  test("keeps its ticks over a deployment that comes at the very time it is due", async () => {
    const schedules = { minutely: { cron: "* * * * *", overlap: "allow" } } as const;
    const { engine, clock, live, told } = await setUp(schedules, "2026-01-01T00:00:30Z");
    // Between the tick and the pass that would have seen it.
    clock.advance(30 * second + 400);
    await activateSchedules(engine, schedules, clock.wallMs());
    await live(minute);
    expect(await told()).toEqual([
      "minutely 2026-01-01T00:01:00.000Z run",
      "minutely 2026-01-01T00:02:00.000Z run",
    ]);
  });

  test("ends with its deployment, and what waits is given up", async () => {
    const { engine, clock, live, told } = await setUp(
      { queued: { cron: "* * * * *", overlap: "queue" } },
      "2026-01-01T00:00:30Z",
    );
    await live(2 * minute);
    await activateSchedules(engine, { other: { cron: "0 0 1 1 *" } }, clock.wallMs());
    await live(2 * minute);
    expect(await told()).toEqual([
      "queued 2026-01-01T00:01:00.000Z run",
      "queued 2026-01-01T00:02:00.000Z skipped",
    ]);
  });
});

describe("a tick that nobody saw", () => {
  test("is on time within ten seconds, as over a restart", async () => {
    const { engine, clock, told } = await setUp({ hourly: { cron: "0 * * * *" } }, "2026-01-01T00:59:58Z");
    clock.advance(11 * second);
    await newScheduler(engine, clock).scheduler.pass();
    expect(await told()).toEqual(["hourly 2026-01-01T01:00:00.000Z run"]);
  });

  test("is recorded as missed after that, with the reason, and the log says so", async () => {
    const { engine, clock, told } = await setUp({ hourly: { cron: "0 * * * *" } }, "2026-01-01T00:59:58Z");
    clock.advance(2 * hour);
    await newScheduler(engine, clock).scheduler.pass();
    expect(await told()).toEqual([
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

  test("within catch_up runs late: the latest one, once", async () => {
    const { engine, clock, told } = await setUp(
      {
        hourly: { cron: "0 * * * *", catchUpSeconds: 1800 },
        late: { cron: "0 * * * *", catchUpSeconds: 60 },
      },
      "2026-01-01T00:30:00Z",
    );
    clock.advance(3 * hour - 10 * minute);
    for (let restarts = 0; restarts < 3; restarts++) await newScheduler(engine, clock).scheduler.pass();
    expect(await told()).toEqual([
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

describe("a tick while the run before is still going", () => {
  const every = { cron: "* * * * *" };

  test("is skipped by default, and says which run it was", async () => {
    const { engine, live, told } = await setUp({ a: every }, "2026-01-01T00:00:30Z");
    await live(2 * minute);
    await finish(engine);
    await live(minute);
    expect(await told()).toEqual([
      "a 2026-01-01T00:01:00.000Z run",
      "a 2026-01-01T00:02:00.000Z skipped",
      "a 2026-01-01T00:03:00.000Z run",
    ]);
    const [first, skipped] = await ticksOf(engine);
    expect(skipped?.reason).toContain(first?.executionId ?? "none");
  });

  test("waits its turn with overlap queue, and the oldest goes first", async () => {
    const { engine, live } = await setUp({ a: { ...every, overlap: "queue" } }, "2026-01-01T00:00:30Z");
    await live(3 * minute);
    const outcomes = async () => (await ticksOf(engine)).map(({ outcome }) => outcome);
    expect(await outcomes()).toEqual(["run", "waiting", "waiting"]);
    await finish(engine);
    await live(second);
    expect(await outcomes()).toEqual(["run", "run", "waiting"]);
    await finish(engine, "failed");
    await live(second);
    expect(await outcomes()).toEqual(["run", "run", "run"]);
    expect((await runsOf(engine)).length).toBe(3);
  });

  test("waits in a queue of at most a hundred", async () => {
    const { engine, live } = await setUp({ a: { ...every, overlap: "queue" } }, "2026-01-01T00:00:30Z");
    await live(105 * minute, 10 * second);
    const ticks = await ticksOf(engine);
    expect(ticks.map(({ outcome }) => outcome)).toEqual([
      "run",
      ...Array.from({ length: 100 }, () => "waiting"),
      ...Array.from({ length: 4 }, () => "skipped"),
    ]);
    expect(ticks.at(-1)?.reason).toContain("100");
  });

  test("runs beside it with overlap allow", async () => {
    const { engine, live } = await setUp({ a: { ...every, overlap: "allow" } }, "2026-01-01T00:00:30Z");
    await live(3 * minute);
    expect((await runsOf(engine)).length).toBe(3);
  });
});

describe("a clock that is set", () => {
  const allowing = { cron: "*/10 * * * *", overlap: "allow" } as const;
  const uniqueRuns = async (engine: Engine) => {
    const ticks = (await ticksOf(engine)).filter(({ outcome }) => outcome === "run");
    const runs = await runsOf(engine);
    expect(runs.length).toBe(ticks.length);
    expect(new Set(ticks.map(({ executionId }) => executionId)).size).toBe(runs.length);
    return ticks.map(({ dueMs }) => new Date(dueMs).toISOString().slice(11, 16));
  };

  test("back an hour runs nothing twice, and stalls nothing", async () => {
    const { engine, clock, live } = await setUp({ a: allowing }, "2026-01-01T02:55:00Z");
    await live(30 * minute, 5 * second);
    clock.set(clock.wallMs() - hour);
    await live(30 * minute, 5 * second);
    expect(await uniqueRuns(engine)).toEqual(["02:30", "02:40", "02:50", "03:00", "03:10", "03:20"]);
    await live(40 * minute, 5 * second);
    expect((await uniqueRuns(engine)).at(-1)).toBe("03:30");
  });

  test("back by seconds, again and again, neither", async () => {
    const { engine, clock, live } = await setUp(
      { a: { ...allowing, cron: "* * * * *" } },
      "2026-01-01T00:00:30Z",
    );
    for (let minutes = 0; minutes < 20; minutes++) {
      await live(minute, 5 * second);
      clock.set(clock.wallMs() - 1500);
    }
    const run = await uniqueRuns(engine);
    expect(run).toEqual(run.map((_, index) => `00:${String(index + 1).padStart(2, "0")}`));
    expect(run.length).toBeGreaterThanOrEqual(19);
  });

  test("forward a day misses what it jumped over, and goes on", async () => {
    const { engine, clock, live } = await setUp(
      { a: { ...allowing, cron: "0 * * * *" } },
      "2026-01-01T00:30:00Z",
    );
    await live(hour, 10 * second);
    clock.set(clock.wallMs() + day);
    await live(hour, 10 * second);
    const ticks = await ticksOf(engine);
    expect(ticks.map(({ outcome }) => outcome)).toEqual([
      "run",
      ...Array.from({ length: 24 }, () => "missed"),
      "run",
    ]);
    expect(await uniqueRuns(engine)).toEqual(["01:00", "02:00"]);
  });

  test("forward a day by mistake and back again loses nothing that comes after", async () => {
    const { engine, clock, live } = await setUp(
      { a: { ...allowing, cron: "0 * * * *" } },
      "2026-01-01T00:30:00Z",
    );
    clock.set(clock.wallMs() + day);
    await live(10 * second);
    clock.set(clock.wallMs() - day);
    await live(3 * hour, 10 * second);
    expect(await uniqueRuns(engine)).toEqual(["01:00", "02:00", "03:00"]);
  });
});

describe("many schedules", () => {
  test("100,000 cost less than 5 % of a core while none is due, and 10,000 due at once start within their minute", async () => {
    const engine = openStore();
    const start = at("2026-01-01T11:00:00Z");
    const schedules = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, number) => [
        `s${number}`,
        number < 10_000 ? { cron: "1 12 * * *" } : { cron: `${number % 60} 5 * * *` },
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
    const startedAt = performance.now();
    await scheduler.pass();
    expect(performance.now() - startedAt).toBeLessThan(minute);
    expect((await runsOf(engine)).length).toBe(10_000);
  });
});

describe("two schedulers on one store, killed at random", () => {
  /** 1 by default; the long variant is `SIMULATED_DAYS=10`. */
  const days = Number(process.env.SIMULATED_DAYS ?? 1);

  test(`in ${days} simulated days, each tick has one row, and what it did`, {
    timeout: 60_000 + days * 60_000,
  }, async () => {
    const schedules: Schedules = {
      minutely: { cron: "* * * * *", overlap: "allow" },
      "new-york": { cron: "*/7 1-3 * * *", timezone: "America/New_York", overlap: "allow" },
      caught: { cron: "13 * * * *", overlap: "allow", catchUpSeconds: 7200 },
      queued: { cron: "*/3 * * * *", overlap: "queue" },
      skipped: { cron: "*/2 * * * *", overlap: "skip" },
    };
    // Over the night in which New York's clocks go forward.
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

    /** The passes that were committed: when, and from when on their scheduler had been awake. */
    const passes: { atMs: number; awakeSinceMs: number }[] = [];
    const silent = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => silent.mockRestore());
    const workers = engines.map((engine) => {
      let lastPassMs: number | null = null;
      let writes = 0;
      const born = () => {
        lastPassMs = null;
        const mortal = new MortalEngine(
          engine,
          () => (random() < 0.004 ? (random() < 0.5 ? "die before" : "die after") : "live"),
          () => {
            if (writes++ === 0)
              passes.push({ atMs: clock.wallMs(), awakeSinceMs: lastPassMs ?? clock.wallMs() });
          },
        );
        return { mortal, scheduler: newScheduler(mortal, clock).scheduler, wakesAtMs: 0 };
      };
      let life = born();
      return async () => {
        if (life.mortal.dead) {
          // Down for up to five minutes; now and then both are.
          if (life.wakesAtMs === 0) life.wakesAtMs = clock.wallMs() + random() * 5 * minute;
          if (clock.wallMs() < life.wakesAtMs) return;
          life = born();
        }
        writes = 0;
        await life.scheduler.pass();
        lastPassMs = clock.wallMs();
      };
    });

    while (clock.wallMs() < end) {
      clock.advance(2 * second + Math.floor(random() * 6 * second));
      // At once, as two processes would.
      await Promise.all(workers.map((pass) => pass()));
      if (random() < 0.05) await finish(store);
    }

    const ticks = await ticksOf(store);
    const runs = await runsOf(store);
    const lastPass = passes.at(-1)?.atMs ?? start;
    for (const [name, { cron, timezone = "UTC" }] of Object.entries(schedules)) {
      const own = ticks.filter((tick) => tick.name === name);
      const due = runsBetween(parseCron(cron), timezone, new Date(start), new Date(lastPass), 100_000);
      expect(
        own.map(({ dueMs }) => new Date(dueMs).toISOString()),
        `${name}, seed ${seed}`,
      ).toEqual(due.map((time) => time.toISOString()));
    }
    // What a run did is one execution, and no execution is of no run.
    const ran = ticks.filter(({ outcome }) => outcome === "run");
    expect(ran.map(({ executionId }) => executionId).toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
    expect(ticks.filter(({ outcome, executionId }) => outcome !== "run" && executionId !== null)).toEqual([]);
    // Who decided a tick had been awake at its time, or not: that says what had to become of it.
    for (const name of ["minutely", "new-york"]) {
      let next = 0;
      for (const tick of ticks.filter((one) => one.name === name)) {
        while ((passes[next]?.atMs ?? end) < tick.dueMs) next++;
        const by = passes[next];
        const onTime = by !== undefined && tick.dueMs >= by.awakeSinceMs - 10 * second;
        expect(tick.outcome, `${JSON.stringify(tick)} by ${JSON.stringify(by)}, seed ${seed}`).toBe(
          onTime ? "run" : "missed",
        );
      }
    }
    for (const name of ["queued", "caught"]) {
      const lost = ticks.filter((tick) => tick.name === name && tick.outcome === "skipped");
      expect(lost, `seed ${seed}`).toEqual([]);
    }
    // The simulation was one: there were kills, misses and waits.
    const outcomes = new Set(ticks.map(({ outcome }) => outcome));
    expect(outcomes).toEqual(
      new Set(["run", "missed", "skipped", ...(outcomes.has("waiting") ? ["waiting"] : [])]),
    );
  });
});
