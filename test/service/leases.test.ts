import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { loadConfig } from "../../server/config.ts";
import { Executor, leaseMs } from "../../server/executions/executor.ts";
import { LogWriter } from "../../server/executions/log-writer.ts";
import { Notifier } from "../../server/executions/notifier.ts";
import type { Attempt, Outcome, Pools } from "../../server/executions/pool/contract.ts";
import { orderedId } from "../../server/ids.ts";
import type { Engine, Program } from "../../server/store/engine.ts";
import { type ExecutionRow, getExecution, insertExecution } from "../../server/store/executions.ts";
import {
  claimExecutions,
  finishExecution,
  loseExecution,
  retryExecution,
} from "../../server/store/leases.ts";
import { newDeployment, newTarget, openStore, orgId, rows, temporaryFolder } from "../support/store.ts";

/** A pool whose jobs end when the test says so. */
class HandPool implements Pools {
  readonly jobs: { job: Attempt; end(outcome: Outcome): void }[] = [];

  run(job: Attempt): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.jobs.push({ job, end: resolve });
    return promise;
  }

  free(): number {
    return 10 - this.jobs.length;
  }

  cancel(): boolean {
    return false;
  }

  async warm(): Promise<void> {}
  async check(): Promise<never[]> {
    return [];
  }
  retire(): void {}
  async close(): Promise<void> {
    for (const { end } of this.jobs) end({ type: "lost", reason: "closing", suspect: false });
  }
}

/** The store as a process sees it that can be stopped in its tracks: what it asks for waits until it goes on. */
class FreezingEngine implements Engine {
  readonly #engine: Engine;
  #thawed: Promise<void> = Promise.resolve();
  #thaw: () => void = () => {};

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  freeze(): void {
    ({ promise: this.#thawed, resolve: this.#thaw } = Promise.withResolvers<void>());
  }

  thaw(): void {
    this.#thaw();
  }

  async write<Result>(program: () => Program<Result>): Promise<Result> {
    await this.#thawed;
    return this.#engine.write(program);
  }

  async read<Result>(program: () => Program<Result>): Promise<Result> {
    await this.#thawed;
    return this.#engine.read(program);
  }

  version(): number {
    return this.#engine.version();
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

async function startWorker(engine: Engine, owner: string) {
  const own = new FreezingEngine(engine);
  const notifier = new Notifier();
  const executor = new Executor({
    engine: own,
    owner,
    limits: loadConfig({}, {}).limits,
    notifier,
    logs: new LogWriter(own, notifier),
    definitionOf: async () => ({
      name: "test",
      version: "1",
      agents: [newTarget("agent")],
      workflows: [],
      schedules: [],
    }),
    secretsOf: async () => ({}),
  });
  const pool = new HandPool();
  await executor.start(pool, false);
  onTestFinished(async () => {
    own.thaw();
    await executor.close(0);
  });
  return { engine: own, executor, pool, notifier };
}

function newExecution(deploymentId: string): Parameters<typeof insertExecution>[0] {
  return {
    org_id: orgId,
    execution_id: orderedId("exe"),
    kind: "agent",
    name: "agent",
    origin: "run",
    deployment_id: deploymentId,
    environment: "production",
    input: "{}",
    unmapped: "[]",
    parent_execution_id: null,
    parent_key: null,
    depth: 0,
    created_at: Date.now(),
  };
}

describe("two workers on one store", () => {
  beforeEach(() => {
    // The store's own turns, by setImmediate, go on as they are.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Lets time pass in steps of 100 ms, with the store's turns in between, until something has come about. */
  const until = async (done: () => boolean | Promise<boolean>, maxMs = 60_000) => {
    for (let passedMs = 0; !(await done()); passedMs += 100) {
      if (passedMs > maxMs) throw new Error(`It has not come about after ${maxMs} ms.`);
      await vi.advanceTimersByTimeAsync(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const pass = async (ms: number) => {
    const endMs = Date.now() + ms;
    await until(() => Date.now() >= endMs, ms);
  };

  async function setUp() {
    const folder = temporaryFolder();
    const [one, two] = [openStore(folder), openStore(folder)];
    const deploymentId = newDeployment(Date.now()).deployment_id;
    const execution = newExecution(deploymentId);
    const frozen = await startWorker(one, "srv_one");
    await one.write(() => insertExecution(execution));
    await until(() => frozen.pool.jobs.length === 1);
    const successor = await startWorker(two, "srv_two");
    const row = async (): Promise<ExecutionRow> => {
      const found = await two.read(() => getExecution(orgId, execution.execution_id));
      if (found === undefined) throw new Error("It is gone.");
      return found;
    };
    return { frozen, successor, row, store: two };
  }

  const succeed = (output: string): Outcome => ({ type: "succeeded", output });

  test("as long as one extends its lease, the other leaves its work alone", async () => {
    const { frozen, successor, row } = await setUp();
    await pass(4 * leaseMs);
    expect(successor.pool.jobs).toEqual([]);
    frozen.pool.jobs[0]?.end(succeed('"own"'));
    await until(async () => (await row()).status === "succeeded");
    expect(await row()).toMatchObject({ output: '"own"', attempt: 1, losses: 0, lease_owner: null });
  });

  test("what a frozen one held is run by the other, and its late result changes nothing", async () => {
    const { frozen, successor, row, store } = await setUp();
    frozen.engine.freeze();
    await pass(leaseMs - 2_000);
    expect(successor.pool.jobs).toEqual([]);
    await until(() => successor.pool.jobs.length === 1);
    expect(successor.pool.jobs[0]?.job).toMatchObject({ attemptNumber: 1 });
    // It comes back while its successor is at work …
    frozen.engine.thaw();
    frozen.pool.jobs[0]?.end(succeed('"late"'));
    await pass(2_000);
    expect(await row()).toMatchObject({ status: "running", lease_owner: "srv_two", output: null, losses: 1 });
    // … whose result stands.
    successor.pool.jobs[0]?.end(succeed('"successor"'));
    await until(async () => (await row()).status === "succeeded");
    await pass(2 * leaseMs);
    expect(await row()).toMatchObject({ output: '"successor"', attempt: 1, losses: 1 });
    expect(successor.pool.jobs.length + frozen.pool.jobs.length).toBe(2);
    const log = await rows<{ message: string }>(store, "SELECT message FROM logs");
    expect(log.map(({ message }) => message)).toEqual([
      "The worker was lost (its worker stopped answering); the attempt starts anew.",
    ]);
  });

  test("a late failure neither fails nor retries what its successor has done", async () => {
    const { frozen, successor, row } = await setUp();
    frozen.engine.freeze();
    await until(() => successor.pool.jobs.length === 1);
    successor.pool.jobs[0]?.end(succeed('"successor"'));
    await until(async () => (await row()).status === "succeeded");
    frozen.engine.thaw();
    const error = { name: "Error", message: "late", stack: "" };
    frozen.pool.jobs[0]?.end({ type: "failed", error, final: false, reason: "thrown" });
    await pass(2 * leaseMs);
    expect(await row()).toMatchObject({ status: "succeeded", output: '"successor"', error: null });
  });

  test("one that comes back before anybody noticed goes on", async () => {
    const { frozen, successor, row } = await setUp();
    frozen.engine.freeze();
    await pass(leaseMs - 5_000);
    frozen.engine.thaw();
    await pass(2 * leaseMs);
    expect(successor.pool.jobs).toEqual([]);
    frozen.pool.jobs[0]?.end(succeed('"own"'));
    await until(async () => (await row()).status === "succeeded");
    expect(await row()).toMatchObject({ output: '"own"', losses: 0 });
  });
});

test("whatever happens under which lease, an execution ends once and stays as it ended", async () => {
  const engine = openStore();
  const event = fc.record({
    what: fc.constantFrom("claim", "finish", "fail", "retry", "lose"),
    owner: fc.constantFrom("a", "b", "c"),
    /** Of its claims, the one under which the owner acts: the latest, or one of before. */
    lease: fc.nat({ max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 60 }), async (events) => {
      const execution = newExecution(orderedId("dep"));
      await engine.write(() => insertExecution(execution));
      const leases: Record<string, ExecutionRow[]> = { a: [], b: [], c: [] };
      let holder: ExecutionRow | null = null;
      let ended: ExecutionRow | null = null;
      const row = async () =>
        (await engine.read(() => getExecution(orgId, execution.execution_id))) as ExecutionRow;
      for (const [index, { what, owner, lease }] of events.entries()) {
        if (what === "claim") {
          const claimed = await engine.write(() =>
            claimExecutions(execution.deployment_id, 1, owner, Date.now() + leaseMs, Number.MAX_SAFE_INTEGER),
          );
          expect(claimed.length).toBe(holder === null && ended === null ? 1 : 0);
          const [row] = claimed;
          if (row === undefined) continue;
          leases[owner]?.push(row);
          holder = row;
          continue;
        }
        const held = leases[owner]?.at(-1 - lease);
        if (held === undefined) continue;
        const isHolder = held === holder;
        const output = String(index);
        const done = await engine.write(() => act(what, held, output));
        expect(done).toBe(isHolder);
        if (!isHolder) continue;
        holder = null;
        if (what === "finish" || what === "fail") ended = await row();
      }
      if (ended !== null) expect(await row()).toEqual(ended);
    }),
    { numRuns: 200 },
  );
});

function act(what: string, lease: ExecutionRow, output: string): Program<boolean> {
  switch (what) {
    case "finish":
      return finishExecution(lease, "succeeded", output, null, Date.now());
    case "fail":
      return finishExecution(lease, "failed", null, output, Date.now());
    case "retry":
      return retryExecution(lease, output, Date.now(), Date.now());
    default:
      return loseExecution(lease, false, Date.now());
  }
}
