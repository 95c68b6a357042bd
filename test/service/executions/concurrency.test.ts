/** Twenty concurrent pushes, rollbacks and deletions of a project, while its webhook is called continuously. */

import { expect, test } from "vitest";
import { all } from "../../../server/store/engine.ts";
import { deploy, tryDeploy } from "../../support/project.ts";
import { call } from "../../support/rest.ts";
import { fastRunners } from "../../support/runtimes.ts";
import type { DeploymentPage } from "../../support/shapes.ts";
import { useServer } from "../../support/suite.ts";

const env = {
  ...fastRunners,
  SVC_WEBHOOK_RATE: "100000",
  SVC_WEBHOOK_BURST: "100000",
  SVC_ORGANIZATION_RATE: "100000",
  SVC_ORGANIZATION_BURST: "100000",
};
const server = useServer("node", { env });

function version(number: number) {
  return {
    version: String(number),
    agents: { echo: { code: `export default () => ${number};`, webhooks: [{ slug: "in" }] } },
  };
}

test("exactly one deployment is active at any time, and the webhook always exists", async () => {
  const first = await deploy(server, version(0));
  const url = first.webhooks[0]?.url ?? "";
  let working = true;
  const statuses = new Map<number, number>();
  const sender = async () => {
    while (working) {
      const { status } = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const engine = await server.openStore();
  const active = "SELECT count(*) AS n FROM deployments WHERE status = 'active'";
  const watcher = async () => {
    while (working) {
      expect(await engine.read(() => all(active))).toEqual([{ n: 1 }]);
      await new Promise(setImmediate);
    }
  };
  const background = [sender(), sender(), watcher()];
  try {
    const work = Array.from({ length: 20 }, async (_, n) => {
      if (n % 3 === 0) return (await tryDeploy(server, version(1 + (n % 4)), { redeploy: true })).status;
      const { json } = await call<DeploymentPage>(server, "GET", "/api/v1/deployments?status=superseded");
      const id = json.deployments[n % Math.max(1, json.deployments.length)]?.deployment_id;
      if (id === undefined) return 200;
      return n % 3 === 1
        ? (await call(server, "POST", `/api/v1/deployments/${id}/rollback`, { json: {} })).status
        : (await call(server, "DELETE", `/api/v1/deployments/${id}`)).status;
    });
    // 409 is allowed: the deployment was activated or deleted concurrently.
    for (const status of await Promise.all(work)) expect([200, 409]).toContain(status);
  } finally {
    working = false;
    await Promise.all(background);
    await engine.close();
  }
  expect([...statuses.keys()]).toEqual([202]);
  expect(statuses.get(202)).toBeGreaterThan(20);
});
