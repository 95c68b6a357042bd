/**
 * A data folder of version 0.1: its packages are stored under the SHA-256 of their compressed bytes. `data-0.1.tar.gz`
 * was made by that version with two pushes of the project `legacy`; the folder of unpacked packages was then removed.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deploy } from "../../support/project.ts";
import { call, ok, runToEnd } from "../../support/rest.ts";
import { root } from "../../support/runtimes.ts";
import { TestServer } from "../../support/server.ts";
import type { DeploymentJson, DeploymentPage } from "../../support/shapes.ts";

const fixture = join(root, "test/fixtures/data-0.1.tar.gz");
const dataDir = mkdtempSync(join(tmpdir(), "svc-upgrade-"));
const server = new TestServer("node", { dataDir, env: { SVC_API_KEY: "svc_fixture_0000000000000000" } });
let old: DeploymentJson[] = [];

beforeAll(async () => {
  execFileSync("tar", ["-xzf", fixture, "-C", dataDir]);
  await server.start();
  old = (await ok<DeploymentPage>(server, "GET", "/api/v1/deployments?project=legacy")).deployments;
});
afterAll(async () => {
  await server.kill("SIGKILL");
  rmSync(dataDir, { recursive: true, force: true });
});

test("runs a deployment whose digest is of the compressed package", async () => {
  expect(old.map(({ version, status }) => [version, status])).toEqual([
    ["2.0", "active"],
    ["1.0", "superseded"],
  ]);
  expect((await runToEnd(server, "teller")).output).toBe("two");
});

test("rolls back to an old deployment", async () => {
  const { status } = await call(server, "POST", `/api/v1/deployments/${old[1]?.deployment_id}/rollback`, {
    json: {},
  });
  expect(status).toBe(200);
  expect((await runToEnd(server, "teller")).output).toBe("one");
});

test("deploys an old package to another environment", async () => {
  const digest = old[0]?.digest;
  const staged = await ok<DeploymentJson>(server, "POST", "/env/staging/api/v1/deployments", {
    json: { digest },
  });
  expect(staged).toMatchObject({ environment: "staging", status: "active", digest });
});

test("downloads an old package unchanged", async () => {
  const path = `/api/v1/deployments/${old[0]?.deployment_id}/download`;
  const response = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(old[0]?.digest);
});

test("replaces an old deployment by a push", async () => {
  const pushed = await deploy(server, {
    name: "legacy",
    version: "3.0",
    agents: { teller: { code: 'export default () => "three";', webhooks: [{ slug: "tell" }] } },
  });
  expect(pushed.status).toBe("active");
  expect((await runToEnd(server, "teller")).output).toBe("three");
});
