/**
 * Runs queued executions: claims due executions under a lease, runs them in the pools of their deployments, and writes
 * their outcomes.
 *
 * States: *new*; *running* from `start`; *closing* from `close`, which stops claiming, waits for running executions and
 * hands the rest back to the queue. The executor learns of work by a notification of the store, by the earliest due time
 * in the queue, and by a sweep once per second, because a notification may be lost.
 */
import { setTimeout } from "node:timers/promises";
import type { RetryPolicy } from "../../project/definition.ts";
import type { Limits } from "../config/limits.ts";
import { Batch } from "../store/batch.ts";
import type { Engine } from "../store/engine.ts";
import { type Acceptance, acceptExecutions, type Once, type Request } from "../store/tables/idempotency.ts";
import {
  claimExecutions,
  extendLeases,
  listCancelled,
  listExpiredOwners,
  listOtherOwners,
  listWaiting,
  organizationOfQueue,
  type RunningExecution,
} from "../store/tables/leases.ts";
import { type NewExecution, toRow } from "../store/tables/new-executions.ts";
import { countOrganizations } from "../store/tables/organizations.ts";
import { log, reasonOf } from "../telemetry/log/index.ts";
import type { AttemptSpan, Tracer } from "../telemetry/tracing/tracer.ts";
import { ConcurrencyLimiter } from "./concurrency.ts";
import { countAttempt, countEnd, endSpan } from "./count.ts";
import type { LogWriter } from "./log-writer.ts";
import type { AttemptResponse, Outcome, Pools } from "./pool/contract.ts";
import { requeueAbandoned } from "./requeue-abandoned.ts";
import { Responses } from "./responses.ts";
import { withoutDelay } from "./retry.ts";
import {
  type AttemptSettings,
  type AttemptSources,
  notStarted,
  readSettings,
  retryOf,
  runAttempt,
} from "./run-attempt.ts";
import { afterAttempt, type Transition } from "./states.ts";
import { stateOf, TransitionWriter } from "./write-transition.ts";

export const leaseMs = 15_000;
export const heartbeatMs = 5_000;
const sweepMs = 1_000;
/** Pauses before a failed write of an outcome is repeated: the first and the longest. */
const firstRepeatMs = 250;
const lastRepeatMs = 5_000;

export interface ExecutorOptions extends AttemptSources {
  engine: Engine;
  /** The name of this process in leases, unique for each start. */
  owner: string;
  limits: Limits;
  logs: LogWriter;
  /** Absent without tracing. */
  tracer?: Tracer | null;
  /** Whether retries start without the delay of their policy. Default: false. */
  retriesAtOnce?: boolean;
  /** Whether failures call `on_failure` of their project. Default: true. */
  reportsFailures?: boolean;
  /** Called after each write of a transition. */
  onEnd?(row: RunningExecution, transition: Transition): void;
  /** Called when an attempt starts. */
  onAttempt?(executionId: string): void;
}

export class Executor {
  readonly #options: ExecutorOptions;
  readonly #running = new Map<string, RunningExecution>();
  /** The spans of running attempts; empty without tracing. */
  readonly #spans = new Map<string, AttemptSpan>();
  /** Executions that run, or whose outcome is being written. */
  #unsettled = 0;
  #onSettled: () => void = () => {};
  /** Executions that start at the end of this turn, by deployment and environment. */
  readonly #starting = new Map<string, RunningExecution[]>();
  /** Deployments that may have due executions. The least recently claimed one comes first. */
  readonly #ready = new Set<string>();
  readonly #claiming = new Set<string>();
  /** The organizations of deployments. */
  readonly #organizations = new Map<string, string>();
  readonly #limiter: ConcurrencyLimiter;
  readonly #accepted: Batch<Request, Acceptance>;
  readonly #transitions: TransitionWriter;
  readonly #responses: Responses;
  /** Unsubscribe from the store. */
  #stops: (() => void)[] = [];
  #pools: Pools | null = null;
  #timers: NodeJS.Timeout[] = [];
  #dueTimer: NodeJS.Timeout | null = null;
  #closing = false;
  readonly #closed = new AbortController();
  #lastError: string | null = null;
  #pumping = false;

  constructor(options: ExecutorOptions) {
    const { engine, limits, reportsFailures = true } = options;
    this.#options = options;
    this.#limiter = new ConcurrencyLimiter(limits.concurrency);
    this.#accepted = new Batch(engine, (requests) => acceptExecutions(requests, Date.now()));
    this.#transitions = new TransitionWriter(engine, reportsFailures);
    this.#responses = new Responses(options);
  }

  /**
   * Starts to run executions.
   * @param hasEnded - whether the process of an owner of leases is known to have ended; otherwise its leases must expire
   */
  async start(pools: Pools, hasEnded: (owner: string) => boolean): Promise<void> {
    const { engine, owner } = this.#options;
    this.#pools = pools;
    await requeueAbandoned(
      engine,
      function* () {
        return (yield* listOtherOwners(owner)).filter(hasEnded);
      },
      () => true,
      "The server ended.",
    );
    this.#stops.push(
      engine.listen("queued", (deploymentId) => {
        if (deploymentId === null) void this.#guard(() => this.#sweep());
        else this.wake(deploymentId);
      }),
      engine.listen("cancel", (executionId) => {
        if (executionId === null) void this.#guard(() => this.#cancelRequested());
        else this.cancel(executionId);
      }),
    );
    this.#timers.push(
      setInterval(() => void this.#guard(() => this.#heartbeat()), heartbeatMs),
      setInterval(() => void this.#guard(() => this.#sweep()), sweepMs),
    );
    await this.#sweep();
  }

  /** Claims executions of a deployment. A notification of the store calls it when one was queued. */
  wake(deploymentId: string): void {
    this.#ready.add(deploymentId);
    this.#pump();
  }

  /**
   * Queues a new execution. When it can start immediately, it is written as running under this worker's lease, which saves
   * the claim and its sync.
   *
   * @param once - the idempotency key of the request, or null
   * @returns after the commit
   */
  async enqueue(row: NewExecution, once: Once | null): Promise<Acceptance> {
    const { owner } = this.#options;
    const pools = this.#poolsWithRoom(row);
    if (pools === null) return this.#accepted.add({ execution: row, once });
    const release = this.#limiter.reserve(row.org_id, row.deployment_id, 1);
    let started = 0;
    try {
      const claimed = { ...row, lease: { owner, untilMs: row.created_at + leaseMs } };
      const accepted = await this.#accepted.add({ execution: claimed, once });
      if (accepted.executionId === row.execution_id) {
        started = 1;
        this.#start(toRow(claimed), pools);
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
    return this.#spans.get(executionId);
  }

  /** Stores the response of an execution that runs here. */
  respond(executionId: string, response: AttemptResponse): void {
    const row = this.#running.get(executionId);
    if (row !== undefined) this.#responses.set(row, response);
  }

  /** Aborts a running execution. False when it does not run here. */
  cancel(executionId: string): boolean {
    const row = this.#running.get(executionId);
    if (row === undefined) return false;
    row.cancel_requested = 1;
    return this.#pools?.cancel(executionId) ?? false;
  }

  /** Releases the slot of an execution during `wait`, so that a workflow does not block its child executions. */
  async withoutSlot<T>(row: RunningExecution, wait: () => Promise<T>): Promise<T> {
    this.#limiter.hold(row.org_id, row.deployment_id, -1);
    try {
      this.#pump();
      return await wait();
    } finally {
      this.#limiter.hold(row.org_id, row.deployment_id, 1);
    }
  }

  /** @throws Error with the reason why no executions run */
  check(): void {
    if (this.#pools === null || this.#closing) throw new Error("not running");
    if (this.#lastError !== null) throw new Error(this.#lastError);
  }

  get runningCount(): number {
    return this.#running.size;
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#closed.abort();
    for (const stop of this.#stops) stop();
    for (const timer of this.#timers) clearInterval(timer);
    if (this.#dueTimer !== null) clearTimeout(this.#dueTimer);
    await this.#pools?.close(graceMs);
    if (this.#unsettled > 0) {
      await new Promise<void>((resolve) => {
        this.#onSettled = resolve;
      });
    }
    await this.#options.logs.flush();
  }

  /** The pools, when a new execution can start immediately without overtaking a queued one of its deployment. */
  #poolsWithRoom({ org_id, deployment_id }: NewExecution): Pools | null {
    const pools = this.#pools;
    if (pools === null || this.#closing || this.#ready.has(deployment_id)) return null;
    return this.#limiter.room(org_id, deployment_id, pools.free(deployment_id)) > 0 ? pools : null;
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    // One claim for all executions that are queued in this turn of the event loop.
    queueMicrotask(() => {
      this.#pumping = false;
      for (const deploymentId of this.#ready) void this.#guard(() => this.#claim(deploymentId));
    });
  }

  async #claim(deploymentId: string): Promise<void> {
    const pools = this.#pools;
    if (pools === null || this.#closing || this.#claiming.has(deploymentId)) return;
    let hadRoom = true;
    this.#claiming.add(deploymentId);
    try {
      const orgId = await this.#organizationOf(deploymentId);
      if (orgId !== undefined && !this.#closing) hadRoom = await this.#claimFor(orgId, deploymentId, pools);
    } finally {
      this.#claiming.delete(deploymentId);
    }
    if (hadRoom && this.#ready.has(deploymentId)) this.#pump();
  }

  /** Claims as many executions as there is room for. False when there is none. */
  async #claimFor(orgId: string, deploymentId: string, pools: Pools): Promise<boolean> {
    const { engine, owner } = this.#options;
    const free = pools.free(deploymentId);
    const limit = this.#limiter.room(orgId, deploymentId, free);
    let claimed = 0;
    if (limit > 0) {
      this.#ready.delete(deploymentId);
      // Not `reserve`: new executions may start during the claim. If they had to queue, each would need a claim, which
      // costs a third more CPU per execution under load. The pool queues the few that exceed its room.
      this.#limiter.hold(orgId, deploymentId, limit);
      try {
        const rows = await engine.write(() => {
          const now = Date.now();
          return claimExecutions(deploymentId, limit, owner, now + leaseMs, now);
        });
        claimed = rows.length;
        for (const row of rows) this.#start(row, pools);
      } finally {
        this.#limiter.hold(orgId, deploymentId, claimed - limit);
      }
    }
    const isDrained = claimed < limit;
    // A deployment that lacks runners does not wait for slots.
    this.#limiter.setWaiting(orgId, deploymentId, !isDrained && limit < free);
    if (limit > 0 && !isDrained) this.#ready.add(deploymentId);
    return limit > 0;
  }

  /** Undefined, and not ready any more, when the deployment has no queued executions. */
  async #organizationOf(deploymentId: string): Promise<string | undefined> {
    const known = this.#organizations.get(deploymentId);
    if (known !== undefined) return known;
    // Before the read, so that a `wake` during the read counts.
    this.#ready.delete(deploymentId);
    const orgId = await this.#options.engine.read(() => organizationOfQueue(deploymentId));
    if (orgId === undefined) return undefined;
    this.#organizations.set(deploymentId, orgId);
    this.#ready.add(deploymentId);
    return orgId;
  }

  /**
   * Runs an execution that holds a slot, together with those that start in the same turn and have the same settings. A
   * replay on a named deployment keeps its environment, so that a deployment may have executions of several.
   */
  #start(row: RunningExecution, pools: Pools): void {
    this.#unsettled += 1;
    this.#running.set(row.execution_id, row);
    this.#options.onAttempt?.(row.execution_id);
    const key = `${row.deployment_id} ${row.environment}`;
    const starting = this.#starting.get(key);
    if (starting !== undefined) {
      starting.push(row);
      return;
    }
    const rows = [row];
    this.#starting.set(key, rows);
    queueMicrotask(() => {
      this.#starting.delete(key);
      void this.#runAll(rows, pools);
    });
  }

  /** Runs executions of one deployment and environment. Never rejects. */
  async #runAll(rows: readonly RunningExecution[], pools: Pools): Promise<void> {
    let settings: AttemptSettings | { error: unknown };
    try {
      settings = await readSettings(this.#options, rows[0] as RunningExecution);
    } catch (error) {
      settings = { error };
    }
    for (const row of rows) void this.#run(row, settings, pools);
  }

  /** Runs an execution to the end of its attempt. Never rejects. */
  async #run(
    row: RunningExecution,
    settings: AttemptSettings | { error: unknown },
    pools: Pools,
  ): Promise<void> {
    const startedMs = performance.now();
    const span = this.#options.tracer?.attempt(row) ?? null;
    if (span !== null) this.#spans.set(row.execution_id, span);
    let outcome: Outcome;
    let retry: RetryPolicy | null = null;
    try {
      if ("error" in settings) throw settings.error;
      retry = retryOf(settings, row);
      outcome = await runAttempt(this.#options, settings, row, pools, span?.context ?? null);
    } catch (error) {
      outcome = notStarted(error);
    }
    countAttempt(row, outcome, startedMs);
    if (span !== null) {
      this.#spans.delete(row.execution_id);
      endSpan(span, outcome);
    }
    this.#limiter.hold(row.org_id, row.deployment_id, -1);
    // The next claim does not wait for this outcome to be written. Only for known queues: a query after each execution
    // would cost as much as a claim.
    if (this.#ready.size > 0) this.#pump();
    try {
      await this.#settle(row, retry, outcome);
      this.#lastError = null;
    } catch (error) {
      this.#failed(error, row.execution_id);
    } finally {
      if (this.#running.get(row.execution_id) === row) this.#running.delete(row.execution_id);
      this.#unsettled -= 1;
      if (this.#unsettled === 0) this.#onSettled();
    }
  }

  async #settle(row: RunningExecution, policy: RetryPolicy | null, outcome: Outcome): Promise<void> {
    const { engine, logs, retriesAtOnce = false } = this.#options;
    // A reader that finds the execution ended must find its whole log.
    if (!engine.ordered) await logs.flush();
    // A shutdown is not a loss.
    if (this.#closing && outcome.type === "lost") return this.#transitions.handBack(row);
    const retry = policy !== null && retriesAtOnce ? withoutDelay(policy) : policy;
    const state = { ...stateOf(row), retry };
    const responding = this.#responses.written(row);
    if (responding !== null) await responding;
    const transition = afterAttempt(state, outcome, Date.now(), Math.random);
    const held = await this.#untilWritten(row, transition);
    if (held) {
      countEnd(row, transition, Date.now());
      this.#options.onEnd?.(row, transition);
    }
    if (transition.to === "queued") this.#wakeAt(transition.dueAtMs);
  }

  /**
   * Repeats a write that failed, for example on a full disk. Meanwhile the heartbeat keeps the lease: without the write, the
   * execution would remain running until the next start.
   * @returns whether the lease was held
   */
  async #untilWritten(row: RunningExecution, transition: Transition): Promise<boolean> {
    for (let delayMs = firstRepeatMs; ; delayMs = Math.min(2 * delayMs, lastRepeatMs)) {
      try {
        return await this.#transitions.write(row, transition);
      } catch (error) {
        if (this.#closing) throw error;
        this.#lastError = reasonOf(error);
        log.error("Cannot write the end of an attempt", {
          reason: this.#lastError,
          execution_id: row.execution_id,
        });
        await setTimeout(delayMs, undefined, { signal: this.#closed.signal }).catch(() => {});
      }
    }
  }

  /** Extends the leases, aborts executions that another process has cancelled, and executions whose lease was lost. */
  async #heartbeat(): Promise<void> {
    if (this.#running.size === 0) return;
    const { engine, owner } = this.#options;
    const before = [...this.#running.values()];
    const extended = await engine.write(() => extendLeases(owner, Date.now() + leaseMs));
    const leases = new Map(extended.map((lease) => [lease.execution_id, lease]));
    for (const row of before) {
      if (this.#running.get(row.execution_id) !== row || row.lease_owner === null) continue;
      const lease = leases.get(row.execution_id);
      const held = lease?.attempt === row.attempt && lease.losses === row.losses;
      if (held && lease.cancel_requested === 1 && row.cancel_requested === 0) this.cancel(row.execution_id);
      if (held) continue;
      // Its result would be discarded. Another worker may run it already.
      row.lease_owner = null;
      this.#pools?.cancel(row.execution_id);
    }
  }

  /** Aborts executions that another process has cancelled. */
  async #cancelRequested(): Promise<void> {
    if (this.#running.size === 0) return;
    const { engine, owner } = this.#options;
    for (const id of await engine.read(() => listCancelled(owner))) {
      if (this.#running.get(id)?.cancel_requested === 0) this.cancel(id);
    }
  }

  async #sweep(): Promise<void> {
    const { engine, owner } = this.#options;
    await requeueAbandoned(
      engine,
      () => listExpiredOwners(owner, Date.now()),
      (rows) => rows.some(({ lease_until }) => (lease_until ?? 0) <= Date.now()),
      "The lease of its worker expired.",
    );
    this.#limiter.organizationCount = await engine.read(countOrganizations);
    const now = Date.now();
    for (const { deployment_id, due_at } of await engine.read(listWaiting)) {
      if (due_at <= now) this.wake(deployment_id);
      else this.#wakeAt(due_at);
    }
  }

  /** Sweeps at the due time of an execution, if that is before the next regular sweep. */
  #wakeAt(dueAtMs: number): void {
    const delay = dueAtMs - Date.now();
    if (delay >= sweepMs || this.#closing || this.#dueTimer !== null) return;
    this.#dueTimer = globalThis.setTimeout(
      () => {
        this.#dueTimer = null;
        void this.#guard(() => this.#sweep());
      },
      Math.max(delay, 1),
    );
  }

  /** An error of the store must not end the process. The leases expire, and the executions run again. */
  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#lastError = null;
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown, executionId?: string): void {
    if (this.#closing) return;
    this.#lastError = reasonOf(error);
    log.error("The executor failed", { reason: this.#lastError, execution_id: executionId });
  }
}
