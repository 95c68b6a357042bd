import { describe, expect, test } from "vitest";
import { run } from "../../server/store/engine.ts";
import { deploy, type ProjectSource } from "../support/project.ts";
import { call, ok } from "../support/rest.ts";
import type { DeploymentJson } from "../support/shapes.ts";
import { useServer } from "../support/suite.ts";

const agents = { echo: "export default (input) => input;" };
const project = (version: string): ProjectSource => ({
  version,
  agents: { ...agents, version: `export default () => ${version};` },
  schedules: { agents: { echo: { cron: "0 0 1 1 *" } } },
});

describe("the audit log", () => {
  const server = useServer("bun");

  /** Messages of the audit log, the oldest first. */
  const auditLog = async (): Promise<string[]> => {
    const { text } = await call(server, "GET", "/api/v1/logs?audit=true");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => (JSON.parse(line) as { log: { message: string } }).log.message);
  };

  const failures = {
    sqlite: [
      `CREATE TRIGGER fail_audit BEFORE INSERT ON logs WHEN NEW.source = 'audit'
BEGIN SELECT RAISE(ABORT, 'audit entries fail'); END`,
      "DROP TRIGGER fail_audit",
    ],
    postgres: [
      "ALTER TABLE logs ADD CONSTRAINT fail_audit CHECK (source <> 'audit') NOT VALID",
      "ALTER TABLE logs DROP CONSTRAINT fail_audit",
    ],
  } as const;

  /** Makes every write of an audit entry fail while `action` runs. */
  const withoutAudit = async (action: () => Promise<void>): Promise<void> => {
    const [fail, allow] = failures[server.engine];
    const engine = await server.openStore();
    try {
      await engine.write(() => run(fail));
      await action();
      await engine.write(() => run(allow));
    } finally {
      await engine.close();
    }
  };

  test("records a change in the same transaction: a change without its entry does not happen", async () => {
    const first = await deploy(server, project("1"));
    const second = await deploy(server, project("2"));
    await ok(server, "PUT", "/api/v1/secrets/KEPT", { json: { value: "x" } });
    const { key } = await ok<{ key: { key_id: string } }>(server, "POST", "/api/v1/keys", {
      json: { name: "other" },
    });
    const changes: [method: string, path: string, json?: object][] = [
      ["PUT", "/api/v1/secrets/NEW", { value: "x" }],
      ["DELETE", "/api/v1/secrets/KEPT"],
      ["POST", "/api/v1/keys", { name: "new" }],
      ["DELETE", `/api/v1/keys/${key.key_id}`],
      ["POST", "/api/v1/schedules/echo/pause", {}],
      ["POST", `/api/v1/deployments/${first.deployment_id}/rollback`, {}],
      ["DELETE", `/api/v1/deployments/${second.deployment_id}?force=true`],
      ["POST", "/api/v1/deployments", { digest: first.digest, environment: "staging" }],
    ];
    const state = async () => ({
      secrets: await ok(server, "GET", "/api/v1/secrets"),
      keys: await ok<{ keys: { key_id: string; revoked_at?: string }[] }>(server, "GET", "/api/v1/keys").then(
        ({ keys }) => keys.map(({ key_id, revoked_at }) => ({ key_id, revoked_at })),
      ),
      schedule: await ok(server, "GET", "/api/v1/schedules/echo"),
      deployments: await ok<{ deployments: DeploymentJson[] }>(
        server,
        "GET",
        "/api/v1/deployments?status=active",
      ),
      log: await auditLog(),
    });
    const before = await state();
    await withoutAudit(async () => {
      for (const [method, path, json] of changes) {
        const { status } = await call(server, method, path, json === undefined ? {} : { json });
        expect(status, `${method} ${path}`).toBe(500);
      }
    });
    expect(await state()).toEqual(before);
    for (const [method, path, json] of changes) {
      const { status, text } = await call(server, method, path, json === undefined ? {} : { json });
      expect(status, `${method} ${path}: ${text}`).toBe(200);
    }
    const entries = (await auditLog()).slice(before.log.length);
    expect(entries.map((message) => message.slice(0, message.indexOf(":")))).toEqual([
      "secret.set",
      "secret.removed",
      "key.created",
      "key.revoked",
      "schedule.paused",
      "deployment.rolled_back",
      "deployment.deleted",
      "deployment.pushed",
    ]);
  });

  test("records a promotion with its source deployment", async () => {
    const source = await deploy(server, {
      ...project("3"),
      name: "promoted",
      schedules: {},
      agents: { solo: "export default () => 3;" },
    });
    const json = { source_deployment_id: source.deployment_id, environment: "qa" };
    const promoted = await ok<DeploymentJson>(server, "POST", "/api/v1/deployments", { json });
    expect(promoted).toMatchObject({
      digest: source.digest,
      environment: "qa",
      status: "active",
      source_deployment_id: source.deployment_id,
    });
    const shown = await ok<DeploymentJson>(server, "GET", `/api/v1/deployments/${promoted.deployment_id}`);
    expect(shown.source_deployment_id).toBe(source.deployment_id);
    expect(shown.events.map(({ event }) => event)).toEqual(["promoted", "activated"]);
    expect((await auditLog()).at(-1)).toMatch(
      new RegExp(
        `^deployment\\.promoted: ${promoted.deployment_id} .* in qa, from ${source.deployment_id} in production, by key '`,
      ),
    );
    expect(source.source_deployment_id).toBe("");
  });

  test("a promotion needs an existing source deployment with the same package", async () => {
    const source = await deploy(server, project("4"));
    for (const [json, status] of [
      [{ source_deployment_id: `dep_${"0".repeat(26)}` }, 404],
      [{ source_deployment_id: source.deployment_id, digest: "0".repeat(64) }, 400],
      [{ source_deployment_id: "" }, 400],
    ] as const) {
      const answer = await call(server, "POST", "/api/v1/deployments", {
        json: { ...json, environment: "qa" },
      });
      expect(answer.status, answer.text).toBe(status);
    }
  });
});
