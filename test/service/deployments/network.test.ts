import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { deploy, tryDeploy } from "../../support/project.ts";
import { call, expectError, runToEnd } from "../../support/rest.ts";
import { TestServer } from "../../support/server.ts";

test("a project with a restricted network neither runs nor becomes active where the boundary cannot enforce it", async () => {
  let requests = 0;
  const closed = createServer((_, response) => {
    requests += 1;
    response.end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => closed.once("listening", resolve));
  const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/`;
  const env: Record<string, string> = { SVC_RUNNER: "deno", SVC_SANDBOX: "none" };
  const server = new TestServer("node", { env });
  onTestFinished(async () => {
    await server.discard(false);
    closed.close();
  });
  await server.start();
  const project = (version: number) => ({
    name: "net",
    network: [],
    agents: { net: `export default () => fetch("${url}").then(() => ${version});` },
  });
  const first = await deploy(server, project(1));
  await deploy(server, project(2));
  expect((await runToEnd(server, "net")).status).toBe("failed");

  env.SVC_RUNNER = "node";
  await server.restart();
  const rule = /restricts its network/;
  expectError(await tryDeploy(server, project(3)), 409, "failed_precondition", rule);
  const path = `/api/v1/deployments/${first.deployment_id}/rollback`;
  expectError(await call(server, "POST", path, { json: {} }), 409, "failed_precondition", rule);
  const open = await runToEnd(server, "net");
  expect([open.status, open.error?.message]).toEqual(["failed", expect.stringMatching(rule)]);
  expect(requests).toBe(0);
});
