/** svc: the store and the executor of the server, with a pool that runs the handler in this process. */

import { type Limits, limitVariables } from "../../../server/config/limits.ts";
import { Executor } from "../../../server/executions/executor.ts";
import { LogWriter } from "../../../server/executions/log-writer.ts";
import type { Attempt, Outcome, Pools } from "../../../server/executions/pool/contract.ts";
import { orderedId } from "../../../server/ids.ts";
import type { Engine } from "../../../server/store/engine.ts";
import { first } from "../../../server/store/engine.ts";
import { openPostgres } from "../../../server/store/postgres/index.ts";
import { insertExecutions, type NewExecution } from "../../../server/store/tables/new-executions.ts";
import { insertOrganization } from "../../../server/store/tables/organizations.ts";
import { newTarget, orgId } from "../../support/store.ts";
import { batchSize, type Contestant, payloadOf } from "./contestant.ts";

const concurrency = 1_000;

export class Svc implements Contestant {
  readonly #deploymentId = orderedId("dep");
  /** Accepts jobs and runs none, as a process with the role `api`. */
  #api: Engine | null = null;
  #acceptor: Executor | null = null;
  #worker: Engine | null = null;
  #executor: Executor | null = null;
  #url = "";
  #started = 0;
  #onStart: (job: number) => void = () => {};

  async open(url: string, onStart: (job: number) => void): Promise<void> {
    this.#url = url;
    this.#onStart = (job) => {
      this.#started++;
      onStart(job);
    };
    this.#api = await openPostgres({ url });
    await this.#api.write(() => insertOrganization({ org_id: orgId, name: "bench", created_at: 1 }));
    this.#acceptor = newExecutor(this.#api, "api");
  }

  async enqueue(from: number, count: number): Promise<void> {
    for (let at = from; at < from + count; at += batchSize) {
      const rows = Array.from({ length: Math.min(batchSize, from + count - at) }, (_, index) =>
        this.#row(at + index),
      );
      await this.#api?.write(() => insertExecutions(rows));
    }
  }

  async enqueueOne(job: number): Promise<void> {
    await this.#acceptor?.enqueue(this.#row(job), null);
  }

  async startWorkers(): Promise<void> {
    this.#worker = await openPostgres({ url: this.#url });
    this.#executor = newExecutor(this.#worker, "worker");
    await this.#executor.start(inProcess(this.#onStart), () => false);
  }

  async drained(count: number): Promise<void> {
    const unfinished = "SELECT 1 AS found FROM executions WHERE status IN ('queued', 'running') LIMIT 1";
    for (;;) {
      if (this.#started === count && (await this.#api?.read(() => first(unfinished))) === undefined) return;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async close(): Promise<void> {
    await this.#executor?.close(0);
    await this.#worker?.close();
    await this.#api?.close();
  }

  #row(job: number): NewExecution {
    return {
      org_id: orgId,
      execution_id: orderedId("exe"),
      kind: "agent",
      name: "job",
      origin: "webhook",
      deployment_id: this.#deploymentId,
      environment: "production",
      input: JSON.stringify(payloadOf(job)),
      webhook: "hook",
      headers: "{}",
      size_bytes: 150,
      created_at: Date.now(),
    };
  }
}

function newExecutor(engine: Engine, owner: string): Executor {
  const limits = Object.fromEntries(
    Object.entries(limitVariables).map(([name, { default: value }]) => [name, value]),
  ) as unknown as Limits;
  const definition = {
    agents: [newTarget("job")],
    workflows: [],
    schedules: [],
    name: "bench",
    version: "1",
  };
  return new Executor({
    engine,
    owner,
    limits: { ...limits, concurrency },
    logs: new LogWriter(engine),
    definitionOf: async () => definition as never,
    secretsOf: async () => ({ values: {}, unreadable: [], all: {} }),
    redactorOf: () => undefined,
    post: async () => 200,
  });
}

function inProcess(onStart: (job: number) => void): Pools {
  let running = 0;
  return {
    async run(attempt: Attempt): Promise<Outcome> {
      running++;
      onStart(Number(attempt.input.job));
      await null;
      running--;
      return { type: "succeeded", output: "null" };
    },
    free: () => concurrency - running,
    ahead: () => 0,
    count: () => ({ starting: 0, busy: running, idle: 0, ending: 0, waitingAttempts: 0 }),
    cancel: () => false,
    warm: async () => {},
    check: async () => [],
    validate: async () => null,
    retire: () => {},
    close: async () => {},
  };
}
