/**
 * Accepted webhooks per second of one process with the role `api` on PostgreSQL, compared with one insert for each request
 * on the same PostgreSQL with synced commits, interleaved. There are two baselines: the same process whose writes have one
 * row each, and a bare `node:http` server with `JSON.parse`, one insert into one table and as many connections, which has no
 * routes, limits, headers to keep or notifications. Rate limits are set high.
 * `npm run bench:accept [rounds] [seconds] [connections]`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onDatabase } from "../../support/postgres/databases.ts";
import { PostgresServer } from "../../support/postgres/server.ts";
import { deploy } from "../../support/project.ts";
import { TestServer } from "../../support/server.ts";
import { load } from "../limit/child.ts";

const [rounds = "3", seconds = "4", connections = "64"] = process.argv.slice(2);
const high = "10000000";
const postgres = await PostgresServer.start({ shared_buffers: "256MB" });
const dataDir = mkdtempSync(join(tmpdir(), "svc-accept-"));
await onDatabase(postgres.url(), "CREATE DATABASE inserts TEMPLATE template0");
await onDatabase(postgres.url(), "CREATE DATABASE svc TEMPLATE template0");

const program = fileURLToPath(new URL("insert-server.ts", import.meta.url));
const inserts = spawn(process.execPath, [program, postgres.url("inserts")], {
  stdio: ["pipe", "pipe", "inherit"],
});
const [insertUrl] = (await once(createInterface(inserts.stdout), "line")) as [string];

const env = {
  SVC_DATABASE_URL: postgres.url("svc"),
  SVC_API_KEY: "svc_accept_0123456789abcdef",
  SVC_WEBHOOK_RATE: high,
  SVC_WEBHOOK_BURST: high,
  SVC_ORGANIZATION_RATE: high,
  SVC_ORGANIZATION_BURST: high,
};
// A worker is needed for the deployment only: it loads the modules.
const api = new TestServer("node", { dataDir, env, args: ["--role", "api"] });
const preload = fileURLToPath(new URL("single-rows.ts", import.meta.url));
const singleEnv = { ...env, NODE_OPTIONS: `--import ${preload}` };
const single = new TestServer("node", { dataDir, env: singleEnv, args: ["--role", "api"] });
const worker = new TestServer("node", { dataDir, env, args: ["--role", "worker"] });
try {
  await Promise.all([api.start(), single.start(), worker.start()]);
  const code = "export default () => null;";
  const { webhooks } = await deploy(api, { agents: { hook: { code, webhooks: [{ slug: "in" }] } } });
  await worker.kill("SIGTERM");
  const path = new URL(webhooks[0]?.url ?? "").pathname;
  const urls = {
    svc: api.url + path,
    "svc with one insert per request": single.url + path,
    "a bare server with one insert per request": insertUrl,
  };
  const options = { bodyBytes: 150, seconds: Number(seconds), connections: Number(connections), headers: {} };
  const ratios: Record<string, number[]> = {};
  for (let round = 0; round < Number(rounds); round++) {
    const perSecond: Record<string, number> = {};
    for (const [name, url] of Object.entries(urls)) {
      const result = await load({ ...options, url });
      perSecond[name] = result.perSecond;
      const ratio = (perSecond.svc ?? Number.NaN) / result.perSecond;
      ratios[name] = [...(ratios[name] ?? []), ratio];
      console.log(
        `round ${round + 1}: ${name} ${Math.round(result.perSecond)}/s, p50 ${result.latencyMs.p50.toFixed(1)} ms; ratio ${ratio.toFixed(2)}`,
      );
    }
  }
  delete ratios.svc;
  for (const [name, values] of Object.entries(ratios)) {
    const sorted = values.toSorted((a, b) => a - b);
    console.log(`median ratio of svc to ${name}: ${sorted[Math.floor(sorted.length / 2)]?.toFixed(2)}`);
  }
} finally {
  await Promise.all([api, single, worker].map((server) => server.kill("SIGKILL")));
  inserts.kill("SIGKILL");
  await postgres.discard();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(0);
