import { expect, onTestFinished, test, vi } from "vitest";
import { insertExecution } from "../../../server/store/tables/new-executions.ts";
import { definition, newExecution, newExecutor } from "../../support/executor.ts";
import { HandPool } from "../../support/hand-pool.ts";
import { newDeployment, openStore, temporaryFolder } from "../../support/store.ts";

// A replay on a named deployment keeps the environment of its original, so that a deployment may have executions of
// several environments.
test("executions of one deployment that start together get the secrets and vars of their own environments", async () => {
  const engine = openStore(temporaryFolder());
  const environments = ["production", "staging", "production", "preview"];
  const deploymentId = newDeployment(Date.now()).deployment_id;
  await engine.write(function* () {
    for (const environment of environments) {
      yield* insertExecution({ ...newExecution(deploymentId), environment });
    }
  });
  const executor = newExecutor(engine, {
    definitionOf: async () => ({
      ...definition,
      environments: Object.fromEntries(environments.map((name) => [name, { vars: { PLACE: name } }])),
    }),
    secretsOf: async (_, environment) => ({ values: { KEY: environment }, unreadable: [], all: {} }),
  });
  const pool = new HandPool();
  await executor.start(pool, () => false);
  onTestFinished(() => executor.close(0));
  await vi.waitFor(() => expect(pool.attempts).toHaveLength(environments.length));
  const given = pool.attempts.map(({ attempt }) => [
    attempt.environment,
    attempt.secrets.KEY,
    attempt.vars?.PLACE,
  ]);
  expect(given.sort()).toEqual(environments.map((name) => [name, name, name]).sort());
});
