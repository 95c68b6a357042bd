/**
 * Accepted webhooks per second of one process with the role `api` on PostgreSQL, compared with a bare `node:http` server
 * that runs one insert for each request, on the same PostgreSQL with synced commits, interleaved. Rate limits are set high.
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
const worker = new TestServer("node", { dataDir, env, args: ["--role", "worker"] });
try {
  await Promise.all([api.start(), worker.start()]);
  const code = "export default () => null;";
  const { webhooks } = await deploy(api, { agents: { hook: { code, webhooks: [{ slug: "in" }] } } });
  await worker.kill("SIGTERM");
  const ratios: number[] = [];
  for (let round = 0; round < Number(rounds); round++) {
    const options = {
      bodyBytes: 150,
      seconds: Number(seconds),
      connections: Number(connections),
      headers: {},
    };
    const base = await load({ ...options, url: insertUrl });
    const svc = await load({ ...options, url: webhooks[0]?.url ?? "" });
    ratios.push(svc.perSecond / base.perSecond);
    console.log(
      `round ${round + 1}: svc ${Math.round(svc.perSecond)}/s, p50 ${svc.latencyMs.p50.toFixed(1)} ms; one insert per request ${Math.round(base.perSecond)}/s, p50 ${base.latencyMs.p50.toFixed(1)} ms; ratio ${(svc.perSecond / base.perSecond).toFixed(2)}`,
    );
  }
  ratios.sort((a, b) => a - b);
  console.log(`median ratio ${ratios[Math.floor(ratios.length / 2)]?.toFixed(2)}`);
} finally {
  await Promise.all([api.kill("SIGKILL"), worker.kill("SIGKILL")]);
  inserts.kill("SIGKILL");
  await postgres.discard();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(0);
