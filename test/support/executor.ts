/** An executor without a server, with a definition of one agent, for tests with a {@link HandPool}. */
import { onTestFinished } from "vitest";
import type { ProjectDefinition } from "../../project/definition.ts";
import { loadConfig } from "../../server/config.ts";
import type { ExecutorOptions } from "../../server/executions/executor/options.ts";
import { Executor } from "../../server/executions/executor.ts";
import { LogWriter } from "../../server/executions/log-writer.ts";
import { orderedId } from "../../server/ids.ts";
import type { Engine } from "../../server/store/engine.ts";
import type { NewExecution } from "../../server/store/tables/new-executions.ts";
import { HandPool } from "./hand-pool.ts";
import { newTarget, orgId } from "./store.ts";

export const definition: ProjectDefinition = {
  name: "test",
  version: "1",
  agents: [newTarget("agent")],
  workflows: [],
  schedules: [],
  network: null,
};

export function newExecutor(engine: Engine, options: Partial<ExecutorOptions> = {}): Executor {
  return new Executor({
    engine,
    owner: "srv_one",
    limits: loadConfig({}, {}).limits,
    logs: new LogWriter(engine),
    definitionOf: async () => definition,
    secretsOf: async () => ({ values: {}, unreadable: [], all: {} }),
    redactorOf: () => undefined,
    post: async () => 200,
    ...options,
  });
}

/** An executor that runs attempts in a {@link HandPool}. At the end of the test, all attempts succeed and it closes. */
export async function startExecutor(engine: Engine): Promise<{ executor: Executor; pool: HandPool }> {
  const executor = newExecutor(engine);
  const pool = new HandPool();
  await executor.start(pool, () => false);
  onTestFinished(() => {
    for (const { end } of pool.attempts) end({ type: "succeeded", output: "null" });
    return executor.close(0);
  });
  return { executor, pool };
}

/** A new execution of the agent. */
export function newExecution(deploymentId = "dep_test"): NewExecution {
  return {
    org_id: orgId,
    execution_id: orderedId("exe"),
    kind: "agent",
    name: "agent",
    origin: "run",
    deployment_id: deploymentId,
    environment: "production",
    input: "{}",
    created_at: Date.now(),
  };
}
