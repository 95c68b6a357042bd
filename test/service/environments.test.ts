/** Variables and secrets of environments. */
import { createHmac } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { call, ended, ok } from "../support/rest.ts";
import type { ExecutionJson } from "../support/shapes.ts";
import { onRuntime, sharedStores } from "../support/suite.ts";

interface SecretJson {
  name: string;
  environment: string;
}

const agents = {
  reads: {
    code: `export default (_, { vars, secrets, log }) => {
  log.info("read", { key: secrets.KEY });
  return { ...vars, key: secrets.KEY?.split("").join(" "), frozen: Object.isFrozen(vars) };
};`,
    webhooks: [{ slug: "signed", signature: { scheme: "github", secret: "KEY" } }],
  },
};
const project = {
  agents,
  vars: { URL: "https://example.com", SIZE: 50, DRY: false, EMPTY: "" },
  environments: { staging: { vars: { URL: "https://staging.example.com", EXTRA: 1.5 } }, unused: {} },
};

onRuntime("node", "environments", sharedStores, (server) => {
  const secrets = "/api/v1/secrets";
  const list = async (path: string) => {
    const page = await ok<{ secrets: SecretJson[] }>(server, "GET", path);
    return page.secrets.map(({ name, environment }) => `${name} ${environment || "all"}`);
  };
  const run = async (environment: string) => {
    const json = { name: "reads", environment };
    const { execution_id } = await ok<ExecutionJson>(server, "POST", "/api/v1/executions", { json });
    return (await ended(server, execution_id)).output as Record<string, unknown>;
  };

  beforeAll(async () => {
    await deploy(server, project);
    await deploy(server, project, { environment: "staging" });
  });

  test("have the variables of the project, and their own values", async () => {
    const { key, ...production } = await run("production");
    expect(production).toEqual({ URL: "https://example.com", SIZE: 50, DRY: false, EMPTY: "", frozen: true });
    expect(await run("staging")).toMatchObject({ URL: "https://staging.example.com", SIZE: 50, EXTRA: 1.5 });
  });

  test("have the secrets of the organization, and their own values", async () => {
    await ok(server, "PUT", `${secrets}/KEY`, { json: { value: "shared" } });
    await ok(server, "PUT", `${secrets}/OTHER`, { json: { value: "other" } });
    expect([(await run("production")).key, (await run("staging")).key]).toEqual([
      "s h a r e d",
      "s h a r e d",
    ]);
    const set = await ok(server, "PUT", `/env/staging${secrets}/KEY`, { json: { value: "staged" } });
    expect(set).toMatchObject({ name: "KEY", environment: "staging" });
    expect([(await run("production")).key, (await run("staging")).key]).toEqual([
      "s h a r e d",
      "s t a g e d",
    ]);

    expect(await list(secrets)).toEqual(["KEY all", "KEY staging", "OTHER all"]);
    expect(await list(`${secrets}?environment=staging`)).toEqual(["KEY staging", "OTHER all"]);
    expect(await list(`/env/staging${secrets}`)).toEqual(["KEY staging", "OTHER all"]);
    expect(await list(`${secrets}?environment=production`)).toEqual(["KEY all", "OTHER all"]);
    const [first] = await list(`${secrets}?page_size=1`);
    expect(first).toBe("KEY all");

    // The values of all environments are redacted.
    const { text: logs } = await call(server, "GET", "/api/v1/logs?contains=key&lines=3");
    expect(logs).toContain("***");
    expect(logs).not.toMatch(/shared|staged/);
  });

  test("verify signatures with their own secret", async () => {
    const body = "{}";
    const deliver = async (prefix: string, key: string) => {
      const signature = createHmac("sha256", key).update(body).digest("hex");
      const { org_id } = await ok<{ org_id: string }>(server, "GET", "/api/v1/organization");
      const url = `${prefix}/webhook/${org_id}/agent/reads/signed`;
      const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` };
      return (await call<ExecutionJson>(server, "POST", url, { body, headers })).status;
    };
    expect(await deliver("/env/staging", "staged")).toBe(202);
    expect(await deliver("/env/staging", "shared")).toBe(401);
    expect(await deliver("", "shared")).toBe(202);
  });

  test("use the value of the organization after their own one is removed", async () => {
    await ok(server, "DELETE", `${secrets}/KEY?environment=staging`);
    expect((await call(server, "DELETE", `${secrets}/KEY?environment=staging`)).status).toBe(404);
    expect((await run("staging")).key).toBe("s h a r e d");
    expect(await list(secrets)).toEqual(["KEY all", "OTHER all"]);
  });
});
