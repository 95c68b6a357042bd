/** Starts runners of a deployment, within a rate. */
import { log } from "../../../telemetry/log/index.ts";
import { metrics } from "../../../telemetry/metrics/index.ts";
import type { PoolOptions } from "../contract.ts";
import { launch } from "../launch.ts";
import { RunnerProcess } from "../runner-process.ts";
import type { Runners } from "./runners.ts";
import { StartLimiter } from "./start-limiter.ts";

/** After this number of failed starts in a row, the waiting attempts are handed back. */
const maxFailedStarts = 3;

export interface StarterEvents {
  /** A runner has room, or the number of runners has changed. Often called in a turn of the event loop. */
  changed(): void;
  /** A start has ended, a runner has ended, or the next one may start. */
  pump(): void;
  /** Runners cannot be started. */
  failed(error: unknown): void;
}

export class RunnerStarter {
  readonly #deploymentId: string;
  readonly #options: PoolOptions;
  readonly #runners: Runners;
  readonly #events: StarterEvents;
  readonly #limiter = new StartLimiter();
  #starting = 0;
  #failedStarts = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(deploymentId: string, options: PoolOptions, runners: Runners, events: StarterEvents) {
    this.#deploymentId = deploymentId;
    this.#options = options;
    this.#runners = runners;
    this.#events = events;
  }

  /** The number of runners that start now. */
  get starting(): number {
    return this.#starting;
  }

  /** False when the rate delays the start. `pump` follows. */
  startSoon(): boolean {
    const waitMs = this.#limiter.take();
    if (waitMs > 0) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#events.pump(), waitMs);
      return false;
    }
    this.start({ preload: false }).catch((error: unknown) => this.#onFailedStart(error));
    return true;
  }

  /** A delayed start is not needed any more. */
  cancelDelayed(): void {
    clearTimeout(this.#timer);
  }

  /**
   * @param preload - whether to load the modules of the deployment
   * @throws Error when the runner cannot be started
   */
  async start({ preload }: { preload: boolean }): Promise<void> {
    const { events, limits, locate } = this.#options;
    let release: () => void = () => {};
    const runner = new RunnerProcess(this.#deploymentId, limits, {
      log: (deploymentId, entries) => events.log(deploymentId, entries),
      respond: (executionId, response) => events.respond(executionId, response),
      span: (executionId, span) => events.span?.(executionId, span),
      runChildExecution: (executionId, request, signal) =>
        events.runChildExecution(executionId, request, signal),
      changed: () => this.#events.changed(),
      misbehaved: () => {
        metrics.runnerFailures.add();
        this.#runners.limit();
      },
      ended: () => {
        release();
        this.#runners.delete(runner);
        this.#events.pump();
      },
    });
    this.#runners.add(runner);
    this.#starting += 1;
    try {
      const location = await locate(this.#deploymentId);
      release = () => location.release?.();
      await launch(runner, location, this.#options);
      metrics.runnerStarts.add("started");
      this.#failedStarts = 0;
      if (preload) for (const module of location.modules ?? []) void runner.load(module);
    } catch (error) {
      release();
      metrics.runnerStarts.add("failed");
      this.#runners.delete(runner);
      throw error;
    } finally {
      this.#starting -= 1;
      this.#events.pump();
    }
  }

  #onFailedStart(error: unknown): void {
    if (++this.#failedStarts < maxFailedStarts) return;
    this.#failedStarts = 0;
    // The cause is for the operator and may contain paths. A problem of the package is for its author.
    log.error("Cannot start a runner", { error, deployment_id: this.#deploymentId });
    this.#events.failed(error);
  }
}
