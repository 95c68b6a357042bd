import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { Counters } from "../../../server/counters.ts";
import { heartbeatMs, leaseMs } from "../../../server/executions/executor/leases.ts";
import type { Outcome } from "../../../server/executions/pool/contract.ts";
import type { Transition } from "../../../server/executions/states.ts";
import { applyTransitions } from "../../../server/executions/write-transition.ts";
import { orderedId } from "../../../server/ids.ts";
import { cancelTree } from "../../../server/services/executions/cancel.ts";
import type { Engine, Listener, Program, Topic } from "../../../server/store/engine.ts";
import {
  cancelExecutions,
  type ExecutionRow,
  getExecution,
} from "../../../server/store/tables/executions.ts";
import {
  claimExecutions,
  finishExecutions,
  loseExecutions,
  type RunningExecution,
  retryExecutions,
} from "../../../server/store/tables/leases.ts";
import { insertExecution } from "../../../server/store/tables/new-executions.ts";
import { newExecution, newExecutor } from "../../support/executor.ts";
import { HandPool } from "../../support/hand-pool.ts";
import fc from "../../support/property.ts";
import { newDeployment, openStore, orgId, rows, temporaryFolder } from "../../support/store.ts";

/** The store of a process that can be suspended: its operations wait until it continues. */
class FreezingEngine implements Engine {
  readonly ordered = false;
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

  listen(topic: Topic, listener: Listener): () => void {
    return this.#engine.listen(topic, listener);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

async function startWorker(engine: Engine, owner: string) {
  const own = new FreezingEngine(engine);
  const executor = newExecutor(own, { owner });
  const pool = new HandPool();
  await executor.start(pool, () => false);
  onTestFinished(async () => {
    own.thaw();
    await executor.close(0);
  });
  return { engine: own, executor, pool };
}

describe("two workers on one store", () => {
  beforeEach(() => {
    // The store uses setImmediate, which stays real.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Advances the time in steps of 100 ms until a condition holds. */
  const until = async (done: () => boolean | Promise<boolean>, maxMs = 60_000) => {
    for (let passedMs = 0; !(await done()); passedMs += 100) {
      if (passedMs > maxMs) throw new Error(`The condition did not hold within ${maxMs} ms.`);
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
    await until(() => frozen.pool.attempts.length === 1);
    const successor = await startWorker(two, "srv_two");
    const row = async (): Promise<ExecutionRow> => {
      const found = await two.read(() => getExecution(orgId, execution.execution_id));
      if (found === undefined) throw new Error("The execution was deleted.");
      return found;
    };
    return { frozen, successor, row, store: two };
  }

  const succeed = (output: string): Outcome => ({ type: "succeeded", output });

  test("a worker that extends its leases keeps its executions", async () => {
    const { frozen, successor, row } = await setUp();
    await pass(4 * leaseMs);
    expect(successor.pool.attempts).toEqual([]);
    frozen.pool.attempts[0]?.end(succeed('"own"'));
    await until(async () => (await row()).status === "succeeded");
    expect(await row()).toMatchObject({ output: '"own"', attempt: 1, losses: 0, lease_owner: null });
  });

  test("a worker that has a current lease is alive, and keeps those that are late", async () => {
    const folder = temporaryFolder();
    const store = openStore(folder);
    const { pool } = await startWorker(openStore(folder), "srv_two");
    const late = newExecution(newDeployment(Date.now()).deployment_id);
    const current = newExecution(late.deployment_id);
    const leasedUntilMs = Date.now() + leaseMs;
    await store.write(function* () {
      yield* insertExecution(late);
      yield* claimExecutions(late.deployment_id, 1, "srv_one", Date.now() - 1, Date.now());
      yield* insertExecution(current);
      yield* claimExecutions(late.deployment_id, 1, "srv_one", leasedUntilMs, Date.now());
    });
    await pass(leaseMs - 1_000);
    expect(pool.attempts).toEqual([]);
    await until(() => pool.attempts.length === 2);
  });

  test("another worker runs the executions of a suspended worker, whose late result is discarded", async () => {
    const { frozen, successor, row, store } = await setUp();
    frozen.engine.freeze();
    await pass(leaseMs - 2_000);
    expect(successor.pool.attempts).toEqual([]);
    await until(() => successor.pool.attempts.length === 1);
    expect(successor.pool.attempts[0]?.attempt).toMatchObject({ attemptNumber: 1 });
    // The suspended worker continues while its successor runs the execution.
    frozen.engine.thaw();
    await until(() => frozen.pool.cancelled.length === 1);
    frozen.pool.attempts[0]?.end(succeed('"late"'));
    await pass(2_000);
    expect(await row()).toMatchObject({ status: "running", lease_owner: "srv_two", output: null, losses: 1 });
    // The suspended worker aborts the attempt, whose result would be discarded.
    expect(frozen.pool.cancelled).toEqual([(await row()).execution_id]);
    successor.pool.attempts[0]?.end(succeed('"successor"'));
    await until(async () => (await row()).status === "succeeded");
    await pass(2 * leaseMs);
    expect(await row()).toMatchObject({
      output: '"successor"',
      attempt: 1,
      losses: 1,
      runner_losses: 1,
      alone: 1,
    });
    expect(successor.pool.attempts.length + frozen.pool.attempts.length).toBe(2);
    const log = await rows<{ message: string }>(store, "SELECT message FROM logs");
    expect(log.map(({ message }) => message)).toEqual([
      "Attempt 1 was interrupted and will run again. The lease of its worker expired.",
    ]);
  });

  test("a late failure does not change the result of the successor", async () => {
    const { frozen, successor, row } = await setUp();
    frozen.engine.freeze();
    await until(() => successor.pool.attempts.length === 1);
    successor.pool.attempts[0]?.end(succeed('"successor"'));
    await until(async () => (await row()).status === "succeeded");
    frozen.engine.thaw();
    const error = { name: "Error", message: "late", stack: "" };
    frozen.pool.attempts[0]?.end({ type: "failed", error, final: false, reason: "thrown" });
    await pass(2 * leaseMs);
    expect(await row()).toMatchObject({ status: "succeeded", output: '"successor"', error: null });
  });

  test("a worker that continues before its leases expire keeps its executions", async () => {
    const { frozen, successor, row } = await setUp();
    frozen.engine.freeze();
    await pass(leaseMs - 5_000);
    frozen.engine.thaw();
    await pass(2 * leaseMs);
    expect(successor.pool.attempts).toEqual([]);
    frozen.pool.attempts[0]?.end(succeed('"own"'));
    await until(async () => (await row()).status === "succeeded");
    expect(await row()).toMatchObject({ output: '"own"', losses: 0 });
  });

  test("a cancellation in one process reaches the worker in another process", async () => {
    const { frozen, row, store } = await setUp();
    const { execution_id } = await row();
    await cancelTree({ engine: store, counters: new Counters(store) }, orgId, execution_id);
    expect(frozen.pool.cancelled).toEqual([]);
    await until(() => frozen.pool.cancelled.length > 0, 1_000);
    // A request is passed on once.
    await pass(2 * heartbeatMs);
    expect(frozen.pool.cancelled).toEqual([execution_id]);
    frozen.pool.attempts[0]?.end({ type: "cancelled" });
    await until(async () => (await row()).status === "cancelled");
  });

  test("a cancelled execution is not retried by the worker in another process", async () => {
    const { frozen, row, store } = await setUp();
    await cancelTree({ engine: store, counters: new Counters(store) }, orgId, (await row()).execution_id);
    await pass(heartbeatMs);
    const error = { name: "Error", message: "aborted", stack: "" };
    frozen.pool.attempts[0]?.end({ type: "failed", error, final: false, reason: "thrown" });
    await until(async () => (await row()).status === "cancelled");
  });

  test.each(["retried", "lost"])(
    "a cancelled execution is not %s before its worker learns of the cancellation",
    async (because) => {
      const { row, store } = await setUp();
      const held = (await row()) as RunningExecution;
      await store.write(() => cancelExecutions(orgId, [held.execution_id], Date.now()));
      const dueAtMs = Date.now() + 300_000;
      const transition: Transition =
        because === "lost"
          ? { to: "queued", because, reason: "ended", counts: true, alone: true, dueAtMs }
          : {
              to: "queued",
              because: "retry",
              error: { name: "Error", message: "failed", stack: "" },
              dueAtMs,
            };
      const change = { row: held, transition, atMs: Date.now() };
      expect(await store.write(() => applyTransitions([change]))).toEqual([{ to: "cancelled" }]);
      expect(await row()).toMatchObject({ status: "cancelled", attempt: 1, losses: 0, lease_owner: null });
      const log = await rows<{ message: string }>(store, "SELECT message FROM logs");
      expect(log.map(({ message }) => message)).toEqual(["The agent 'agent' was cancelled."]);
      expect(await rows(store, "SELECT * FROM attempts")).toEqual([]);
    },
  );

  test("a cancelled execution whose worker is lost counts as cancelled", async () => {
    const folder = temporaryFolder();
    const [one, two] = [openStore(folder), openStore(folder)];
    const { engine, executor, pool } = await startWorker(one, "srv_one");
    const execution = newExecution(newDeployment(Date.now()).deployment_id);
    await executor.enqueue(execution, null);
    await until(() => pool.attempts.length === 1);
    engine.freeze();
    await two.write(() => cancelExecutions(orgId, [execution.execution_id], Date.now()));
    const ends: string[] = [];
    const onEnd = (_row: RunningExecution, { to }: { to: string }) => ends.push(to);
    const successor = newExecutor(two, { owner: "srv_two", onEnd });
    await successor.start(new HandPool(), () => false);
    onTestFinished(() => successor.close(0));
    await until(() => ends.length > 0);
    expect(ends).toEqual(["cancelled"]);
  });

  test("the loss of a worker counts only when it ran nothing else", async () => {
    const { frozen, successor, row } = await setUp();
    await frozen.executor.enqueue(newExecution((await row()).deployment_id), null);
    await until(() => frozen.pool.attempts.length === 2);
    frozen.engine.freeze();
    await until(async () => (await row()).losses === 1);
    expect(await row()).toMatchObject({ runner_losses: 0, alone: 0 });
    await until(() => successor.pool.attempts.length === 2);
  });
});

test("each call of close resolves when the running executions are back in the queue", async () => {
  const store = openStore(temporaryFolder());
  const execution = newExecution(newDeployment(Date.now()).deployment_id);
  const { engine, executor, pool } = await startWorker(store, "srv_one");
  await store.write(() => insertExecution(execution));
  await vi.waitFor(() => expect(pool.attempts).toHaveLength(1));
  engine.freeze();
  const closed = [executor.close(0), executor.close(0)];
  engine.thaw();
  await Promise.all(closed);
  const found = await store.read(() => getExecution(orgId, execution.execution_id));
  expect(found).toMatchObject({ status: "queued", losses: 0, lease_owner: null });
});

test("executions are claimed and accepted ahead of the ends of short attempts", async () => {
  const engine = openStore();
  const executor = newExecutor(engine);
  const pool = new HandPool();
  pool.free = () => 0;
  pool.ahead = () => 3;
  onTestFinished(() => executor.close(0));
  const execution = newExecution(orderedId("dep"));
  await engine.write(function* () {
    for (let n = 0; n < 2; n++) yield* insertExecution({ ...execution, execution_id: orderedId("exe") });
  });
  await executor.start(pool, () => false);
  await vi.waitFor(() => expect(pool.attempts).toHaveLength(2));
  const enqueue = () => executor.enqueue({ ...execution, execution_id: orderedId("exe") }, null);
  await enqueue();
  await vi.waitFor(() => expect(pool.attempts).toHaveLength(3));
  await enqueue();
  const found = await rows<{ status: string }>(engine, "SELECT status FROM executions ORDER BY execution_id");
  expect(found.map(({ status }) => status)).toEqual(["running", "running", "running", "queued"]);
});

test("an attempt that has not started returns to the queue as it was", async () => {
  const engine = openStore();
  const executor = newExecutor(engine);
  const pool = new HandPool();
  onTestFinished(() => executor.close(0));
  await executor.start(pool, () => false);
  const execution = newExecution(orderedId("dep"));
  await executor.enqueue(execution, null);
  await vi.waitFor(() => expect(pool.attempts).toHaveLength(1));
  pool.attempts[0]?.end({ type: "lost", reason: "busy", suspect: false, unstarted: true });
  await vi.waitFor(() => expect(pool.attempts).toHaveLength(2));
  const found = await engine.read(() => getExecution(orgId, execution.execution_id));
  expect(found).toMatchObject({ status: "running", attempt: 1, losses: 0, alone: 0 });
  expect(await rows(engine, "SELECT message FROM logs")).toEqual([]);
});

test("an organization gets its share of the concurrency next to one with a long queue", async () => {
  const engine = openStore();
  const executor = newExecutor(engine, { limits: { ...loadConfig({}, {}).limits, concurrency: 8 } });
  const pool = new HandPool();
  pool.free = () => 100;
  onTestFinished(() => executor.close(0));
  const busy = newExecution(orderedId("dep"));
  const other = { ...newExecution(orderedId("dep")), org_id: "org_other" };
  const queue = (execution: typeof busy, count: number) =>
    engine.write(function* () {
      for (let n = 0; n < count; n++)
        yield* insertExecution({ ...execution, execution_id: orderedId("exe") });
    });
  const holding = (id: string) =>
    pool.attempts.filter(({ attempt }) => attempt.organizationId === id).length - (ended.get(id) ?? 0);
  const ended = new Map<string, number>();
  const endOne = (id: string) => {
    const count = ended.get(id) ?? 0;
    ended.set(id, count + 1);
    pool.attempts.filter(({ attempt }) => attempt.organizationId === id)[count]?.end({ type: "cancelled" });
  };
  await queue(busy, 40);
  await executor.start(pool, () => false);
  await vi.waitFor(() => expect(holding(orgId)).toBe(8), 30_000);
  await queue(other, 40);
  executor.wake(other.deployment_id);
  for (let n = 1; n <= 4; n++) {
    endOne(orgId);
    await vi.waitFor(() => expect([holding(orgId), holding("org_other")]).toEqual([8 - n, n]), 30_000);
  }
  endOne(orgId);
  await vi.waitFor(() => expect(pool.attempts.length).toBe(13), 30_000);
  expect([holding(orgId), holding("org_other")]).toEqual([4, 4]);
});

test("an execution ends once, in any order of events under any leases", async () => {
  const engine = openStore();
  const event = fc.record({
    what: fc.constantFrom("claim", "finish", "fail", "retry", "lose"),
    owner: fc.constantFrom("a", "b", "c"),
    /** Which of its leases the owner uses: the latest, or an earlier one. */
    lease: fc.nat({ max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 60 }), async (events) => {
      const execution = newExecution(orderedId("dep"));
      await engine.write(() => insertExecution(execution));
      const leases: Record<string, RunningExecution[]> = { a: [], b: [], c: [] };
      let holder: RunningExecution | null = null;
      let ended: RunningExecution | null = null;
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

function* act(what: string, lease: RunningExecution, text: string): Program<boolean> {
  const atMs = Date.now();
  switch (what) {
    case "finish":
      return isHeld(
        yield* finishExecutions([{ lease, status: "succeeded", output: text, error: null, atMs }]),
      );
    case "fail":
      return isHeld(yield* finishExecutions([{ lease, status: "failed", output: null, error: text, atMs }]));
    case "retry":
      return isHeld(yield* retryExecutions([{ lease, error: text, dueAtMs: atMs }]));
    default:
      return isHeld(yield* loseExecutions([{ lease, counts: false, alone: false, dueAtMs: atMs }]));
  }
}

function isHeld(changed: readonly object[]): boolean {
  return changed.length === 1;
}
