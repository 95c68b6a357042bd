/**
 * Runs queued executions: claims due executions under a lease, runs them in the pools of their deployments, and writes
 * their outcomes.
 *
 * States: *new*; *running* from `start`; *closing* from `close`, which stops claiming, waits for running executions and
 * hands the rest back to the queue. A process of the role `api` leaves its executor new, and only queues executions.
 *
 * An execution passes through the parts in `executor/` in this order: `Claims` takes a slot and a lease, `Attempts` runs it,
 * and `OutcomeWriter` writes what follows. `Leases` keeps it from other workers meanwhile, and `Sweeper` finds what no
 * notification of the store has told.
 */
import { Batch } from "../store/batch.ts";
import { type Acceptance, acceptExecutions, type Once, type Request } from "../store/tables/idempotency.ts";
import { listOtherOwners, type RunningExecution } from "../store/tables/leases.ts";
import { type NewExecution, toRow } from "../store/tables/new-executions.ts";
import type { AttemptSpan } from "../telemetry/tracing/tracer.ts";
import { countEnd } from "./count.ts";
import { Attempts } from "./executor/attempts.ts";
import { Claims } from "./executor/claims.ts";
import { Health } from "./executor/health.ts";
import { heartbeatMs, Leases, leaseMs } from "./executor/leases.ts";
import type { ExecutorOptions } from "./executor/options.ts";
import { OutcomeWriter } from "./executor/outcome-writer.ts";
import { RunningExecutions } from "./executor/running.ts";
import { Sweeper, sweepMs } from "./executor/sweeper.ts";
import type { AttemptResponse, Pools } from "./pool/contract.ts";
import { requeueAbandoned } from "./requeue-abandoned.ts";
import { Responses } from "./responses.ts";
import type { Transition } from "./states.ts";

/** What an executor has from `start`. */
interface Parts {
  pools: Pools;
  claims: Claims;
  attempts: Attempts;
  leases: Leases;
  sweeper: Sweeper;
}

export class Executor {
  readonly #options: ExecutorOptions;
  readonly #running = new RunningExecutions();
  readonly #closing = new AbortController();
  readonly #health: Health = new Health(this.#closing.signal);
  readonly #accepted: Batch<Request, Acceptance>;
  readonly #responses: Responses;
  #parts: Parts | null = null;
  /** Stop claiming and sweeping. */
  readonly #stops: (() => void)[] = [];
  /** Stop the heartbeats and the listener of cancellations, which running executions need until they have ended. */
  readonly #lastStops: (() => void)[] = [];
  #closed: Promise<void> | null = null;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#accepted = new Batch(options.engine, (requests) => {
      const nowMs = Date.now();
      // Not from the acceptance: until the write, a busy store may have made the requests wait.
      for (const { execution } of requests)
        if (execution.lease !== undefined) execution.lease.untilMs = nowMs + leaseMs;
      return acceptExecutions(requests, nowMs);
    });
    this.#responses = new Responses(options);
  }

  /**
   * Starts to run executions.
   * @param hasEnded - whether the process of an owner of leases is known to have ended; otherwise its leases must expire
   */
  async start(pools: Pools, hasEnded: (owner: string) => boolean): Promise<void> {
    const { engine, owner } = this.#options;
    const { leases, sweeper, claims } = this.#assemble(pools);
    await requeueAbandoned(
      engine,
      function* () {
        return (yield* listOtherOwners(owner)).filter(hasEnded);
      },
      () => true,
      "The server ended.",
      (row, transition) => this.#ended(row, transition),
    );
    const guarded = (work: () => Promise<void>) => () => void this.#health.guard(work);
    const sweep = guarded(() => sweeper.sweep());
    const cancelRequested = guarded(() => leases.cancelRequested());
    this.#stops.push(
      engine.listen("queued", (id) => (id === null ? sweep() : claims.wake(id))),
      repeat(sweep, sweepMs),
      () => sweeper.stop(),
    );
    this.#lastStops.push(
      engine.listen("cancel", (id) => (id === null ? cancelRequested() : leases.cancel(id))),
      repeat(
        guarded(() => leases.heartbeat()),
        heartbeatMs,
      ),
    );
    await sweeper.sweep();
  }

  /** Claims executions of a deployment. A notification of the store calls it when one was queued. */
  wake(deploymentId: string): void {
    this.#parts?.claims.wake(deploymentId);
  }

  /**
   * Queues a new execution. When it can start immediately, it is written as running under this worker's lease, which saves
   * the claim and its sync.
   *
   * @param once - the idempotency key of the request, or null
   * @returns after the commit
   */
  async enqueue(row: NewExecution, once: Once | null): Promise<Acceptance> {
    const parts = this.#parts;
    const release = parts?.claims.reserve(row) ?? null;
    if (parts === null || release === null) return this.#accepted.add({ execution: row, once });
    let started = 0;
    try {
      const lease = { owner: this.#options.owner, untilMs: row.created_at + leaseMs };
      const claimed = { ...row, lease };
      const accepted = await this.#accepted.add({ execution: claimed, once });
      if (accepted.executionId === row.execution_id) {
        started = 1;
        parts.attempts.start(toRow(claimed));
      }
      return accepted;
    } finally {
      release(started);
    }
  }

  /** The row of an execution that runs here. */
  running(executionId: string): RunningExecution | undefined {
    return this.#running.get(executionId);
  }

  /** The span of an attempt that runs here. */
  spanOf(executionId: string): AttemptSpan | undefined {
    return this.#parts?.attempts.spanOf(executionId);
  }

  /** Stores the response of an execution that runs here. */
  respond(executionId: string, response: AttemptResponse): void {
    const row = this.#running.get(executionId);
    if (row !== undefined) this.#responses.set(row, response);
  }

  /** Releases the slot of an execution during `wait`, so that a workflow does not block its child executions. */
  withoutSlot<T>(row: RunningExecution, wait: () => Promise<T>): Promise<T> {
    return this.#parts?.claims.withoutSlot(row, wait) ?? wait();
  }

  /** @throws Error with the reason why no executions run */
  check(): void {
    const { lastError } = this.#health;
    if (this.#parts === null || this.#closing.signal.aborted) throw new Error("not running");
    if (lastError !== null) throw new Error(lastError);
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** A further call waits for the first one. */
  close(graceMs: number): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<void> {
    this.#closing.abort();
    for (const stop of this.#stops) stop();
    await this.#parts?.pools.close(graceMs);
    await this.#running.settled();
    for (const stop of this.#lastStops) stop();
    await this.#options.logs.flush();
  }

  /** Counts an execution that this worker did not run. */
  #ended(row: RunningExecution, transition: Transition): void {
    countEnd(row, transition, Date.now());
    this.#options.onEnd?.(row, transition);
  }

  #assemble(pools: Pools): Parts {
    const options = this.#options;
    const { engine, owner, limits } = options;
    const running = this.#running;
    const common = { engine, owner, pools, closing: this.#closing.signal, health: this.#health };
    const claims: Claims = new Claims({
      ...common,
      concurrency: limits.concurrency,
      onDue: (dueAtMs) => sweeper.wakeAt(dueAtMs),
      start: (row) => attempts.start(row),
    });
    const leases = new Leases({ ...common, running });
    const sweeper: Sweeper = new Sweeper({
      ...common,
      claims,
      leases,
      onEnd: (row, transition) => this.#ended(row, transition),
    });
    const outcomes = new OutcomeWriter(options, {
      ...common,
      responses: this.#responses,
      onQueued: (dueAtMs) => sweeper.wakeAt(dueAtMs),
    });
    const attempts = new Attempts(options, {
      ...common,
      running,
      outcomes,
      release: (row) => claims.release(row),
    });
    this.#parts = { pools, claims, attempts, leases, sweeper };
    return this.#parts;
  }
}

/** @returns a function that stops the calls */
function repeat(work: () => void, everyMs: number): () => void {
  const timer = setInterval(work, everyMs);
  return () => clearInterval(timer);
}
