/**
 * The servers of `deploy/compose.yaml` as processes, with its variables and start command, on PostgreSQL and an S3 endpoint
 * of the tests. Only the addresses, the credentials and the data folders differ.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { svc, writeFiles } from "../cli/support.ts";
import { createDatabase, type TestDatabase } from "../support/postgres/databases.ts";
import { call, ended, runToEnd } from "../support/rest.ts";
import { type S3Endpoint, startS3, urlOf } from "../support/s3.ts";
import { TestServer } from "../support/server.ts";
import type { AcceptedJson } from "../support/shapes.ts";
import { compose, isServer } from "./files.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-compose-"));
const servers = new Map<string, TestServer>();
let database: TestDatabase;
let s3: S3Endpoint;

function server(name: string): TestServer {
  const found = servers.get(name);
  if (found === undefined) throw new Error(`The compose file has no server ${name}.`);
  return found;
}

beforeAll(async () => {
  database = await createDatabase();
  s3 = await startS3();
  const local: Readonly<Record<string, string>> = {
    SVC_DATABASE_URL: database.url,
    SVC_STORAGE_URL: urlOf(s3),
    AWS_ACCESS_KEY_ID: s3.env.AWS_ACCESS_KEY_ID ?? "",
    AWS_SECRET_ACCESS_KEY: s3.env.AWS_SECRET_ACCESS_KEY ?? "",
    SVC_MASTER_KEY: "0123456789abcdef".repeat(4),
    SVC_API_KEY: "svc_compose_0123456789abcdef",
    SVC_PUBLIC_URL: "http://localhost:7070",
  };
  for (const [name, service] of Object.entries(compose.services)) {
    if (!isServer(service)) continue;
    const env = Object.fromEntries(
      Object.entries(service.environment).map(([variable, value]) => [variable, local[variable] ?? value]),
    );
    expect(JSON.stringify(env)).not.toContain("${");
    // TestServer takes the key from the variables of every server.
    env.SVC_API_KEY = local.SVC_API_KEY ?? "";
    servers.set(name, new TestServer("node", { env, dataDir: join(folder, name, "data") }));
  }
  // At once, on an empty database.
  await Promise.all([...servers.values()].map((each) => each.start()));
});
afterAll(async () => {
  await Promise.all([...servers.values()].map((each) => each.kill("SIGKILL")));
  await s3.close();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

test("a project that is pushed to one api process runs in the workers, also through the other api process", async () => {
  const project = join(folder, "project");
  await writeFiles(project, {
    "svc-project.yaml": "name: where\nversion: '1'\nagents:\n  - name: where\n    webhooks: [{ slug: in }]\n",
    "agents/where.ts": "export default () => process.ppid;\n",
  });
  const env = { SVC_BASE_URL: server("api-1").url, SVC_API_KEY: server("api-1").apiKey };
  const pushed = await svc("node", ["push", "--force"], { cwd: project, env });
  expect(pushed.code, pushed.stderr).toBe(0);
  const listed = await svc("node", ["webhook", "list", "--json"], { env });
  const url = /http:\/\/localhost:7070(\/webhook\/[^"]+)/.exec(listed.stdout)?.[1] ?? "";
  const workers = [server("worker-1").pid, server("worker-2").pid];
  for (const name of ["api-1", "api-2"]) {
    expect(workers).toContain((await runToEnd(server(name), "where")).output);
    const answer = await call<AcceptedJson>(server(name), "POST", url, { json: {}, key: null });
    expect(answer.status, answer.text).toBe(202);
    expect(workers).toContain((await ended(server("api-2"), answer.json.execution_id)).output);
  }
});

test("the remaining processes do the work after one of each role was killed", async () => {
  await Promise.all([server("api-1").kill("SIGKILL"), server("worker-1").kill("SIGKILL")]);
  expect((await runToEnd(server("api-2"), "where")).output).toBe(server("worker-2").pid);
});

test("all processes end on SIGTERM", async () => {
  const exits = await Promise.all(["api-2", "worker-2"].map((name) => server(name).kill("SIGTERM")));
  expect(exits.map(({ code }) => code)).toEqual([0, 0]);
});
