/**
 * Servers of the previous version on a store that a newer version has migrated.
 *
 * Embedded store: the code before version 0.2, taken from the history, under a load of webhooks. PostgreSQL has no earlier
 * release: there, this version is the previous one, and the test applies the steps that a later version may have.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { migrations } from "../../../server/store/migrations.ts";
import { openSqlite } from "../../../server/store/sqlite/index.ts";
import { createDatabase, onDatabase, type TestDatabase } from "../../support/postgres/databases.ts";
import { deploy } from "../../support/project.ts";
import { call, ended, ok, open, runToEnd } from "../../support/rest.ts";
import { fastRunners, root } from "../../support/runtimes.ts";
import { TestServer } from "../../support/server.ts";
import type { AcceptedJson } from "../../support/shapes.ts";

const previous = "3ff3d9e";
const env = { ...fastRunners, SVC_API_KEY: "svc_upgrade_0123456789abcdef" };
const agents = {
  echo: {
    code: "export default (input) => { console.log('ran', input.n); return input.n; };",
    webhooks: [{ slug: "in" }],
  },
};

/** Sends webhooks one after another until it is stopped; every one must be accepted and succeed. */
function sendWebhooks(server: TestServer, url: string): { stop(): Promise<number> } {
  let stopped = false;
  const sending = (async () => {
    const ids: string[] = [];
    for (let n = 0; !stopped; n++) {
      const answer = await call<AcceptedJson>(server, "POST", url, { json: { n } });
      expect(answer.status, answer.text).toBe(202);
      ids.push(answer.json.execution_id);
    }
    for (const [n, id] of ids.entries()) {
      expect(await ended(server, id)).toMatchObject({ status: "succeeded", output: n });
    }
    return ids.length;
  })();
  return {
    stop() {
      stopped = true;
      return sending;
    },
  };
}

async function loggedRuns(server: TestServer): Promise<number> {
  const response = await open(server, "GET", "/api/v1/logs?lines=10000");
  return (await response.text()).split("\n").filter((line) => line.includes('"ran ')).length;
}

/** A shallow clone, or a copy without its history, does not have the earlier version. */
function hasPrevious(): boolean {
  const { status } = spawnSync("git", ["cat-file", "-e", `${previous}^{commit}`], { cwd: root });
  if (status !== 0) console.log(`Skipped: the history of this copy has no commit ${previous}.`);
  return status === 0;
}

test.runIf(hasPrevious())(
  "a server before version 0.2 accepts and executes after its embedded store was migrated",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-previous-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const archive = execFileSync("git", ["archive", previous], { cwd: root, maxBuffer: 256 * 1024 ** 2 });
    execFileSync("tar", ["-x", "-C", folder], { input: archive });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const old = new TestServer("node", {
      env,
      stores: "embedded",
      launcher: join(folder, "cli/launcher.js"),
    });
    onTestFinished(() => old.discard(false));
    await old.start();
    const url = (await deploy(old, { agents })).webhooks[0]?.url ?? "";
    await runToEnd(old, "echo", { n: -1 });

    const load = sendWebhooks(old, url);
    const engine = openSqlite(old.dataDir);
    await engine.close();
    await runToEnd(old, "echo", { n: -1 });
    const sent = (await load.stop()) + 2;
    expect(sent).toBeGreaterThan(2);
    await old.kill("SIGTERM");

    const server = new TestServer("node", { env, stores: "embedded", dataDir: old.dataDir });
    onTestFinished(() => void server.kill("SIGKILL"));
    await server.start();
    expect(await loggedRuns(server)).toBe(sent);
    expect((await runToEnd(server, "echo", { n: 7 })).output).toBe(7);
    expect(await loggedRuns(server)).toBe(sent + 1);
    expect(server.output).not.toContain("Cannot write");
  },
);

describe("servers on PostgreSQL, with the steps of a later version", () => {
  const nextVersion = migrations.length + 1;
  let database: TestDatabase;
  let server: TestServer;

  beforeAll(async () => {
    database = await createDatabase();
    server = new TestServer("node", { env: { ...env, SVC_DATABASE_URL: database.url } });
    await server.start();
  });
  afterAll(async () => {
    await server.discard(false);
    await database.drop();
  });

  /** What a later version does at its start, in one transaction. */
  function applyStep(compatibleFrom: number | null): Promise<unknown> {
    return onDatabase(
      database.url,
      `BEGIN;
ALTER TABLE executions ADD COLUMN later TEXT;
ALTER TABLE logs ADD COLUMN later BIGINT NOT NULL DEFAULT 0;
ALTER TABLE schedules ADD COLUMN later TEXT;
CREATE TABLE later (org_id TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (org_id, id));
CREATE INDEX later_executions ON executions (org_id, later);
INSERT INTO migrations (version, applied_at, compatible_from) VALUES (${nextVersion}, 0, ${compatibleFrom});
COMMIT`,
    );
  }

  test("continue under load, and start again after a crash", async () => {
    const url = (await deploy(server, { agents })).webhooks[0]?.url ?? "";
    const load = sendWebhooks(server, url);
    await runToEnd(server, "echo", { n: -1 });
    await applyStep(migrations.length);
    await runToEnd(server, "echo", { n: -1 });
    expect(await load.stop()).toBeGreaterThan(0);
    await server.restart("SIGKILL");
    expect((await runToEnd(server, "echo", { n: 7 })).output).toBe(7);
    await ok(server, "GET", "/health");
  });

  test.each([nextVersion, null])("do not start on a schema that is compatible from %s", async (from) => {
    await onDatabase(database.url, "UPDATE migrations SET compatible_from = $1 WHERE version = $2", [
      from,
      nextVersion,
    ]);
    await expect(server.restart()).rejects.toThrow(
      `Cannot open the store: it has schema version ${nextVersion}, this program knows ${migrations.length}; use a newer svc.`,
    );
  });
});
