/** Log entries of runners get the organization and the environment of their execution. */
import { expect, test, vi } from "vitest";
import { LogWriter } from "../../../server/executions/log-writer.ts";
import { runnerLogs } from "../../../server/logs.ts";
import { Redactors } from "../../../server/secrets/redactors.ts";
import { DeploymentCache } from "../../../server/services/deployments/cache.ts";
import { insertDeployment } from "../../../server/store/tables/deployments.ts";
import { newExecution, startExecutor } from "../../support/executor.ts";
import { newDeployment, openStore, orgId, rows } from "../../support/store.ts";

test.each(["held in the cache", "evicted"])(
  "of a replay on a deployment of another environment, %s",
  async (state) => {
    const engine = openStore();
    const deployment = { ...newDeployment(Date.now()), definition: "{}" };
    const { deployment_id: deploymentId } = deployment;
    await engine.write(() => insertDeployment(deployment));
    const deployments = new DeploymentCache(engine);
    if (state !== "evicted") await deployments.definition(orgId, deploymentId);
    const { executor } = await startExecutor(engine);
    const execution = { ...newExecution(deploymentId), environment: "staging" };
    await executor.enqueue(execution, null);
    const writer = new LogWriter(engine);
    const log = runnerLogs(executor, deployments, writer, new Redactors());
    log(deploymentId, [
      { executionId: execution.execution_id, level: "info", message: "hello", atMs: Date.now() },
    ]);
    await vi.waitFor(async () =>
      expect(await rows(engine, "SELECT environment, name FROM logs WHERE source = 'console'")).toEqual([
        { environment: "staging", name: "agent" },
      ]),
    );
  },
);
