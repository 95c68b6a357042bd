/**
 * `npm run bench:backup [-- --rate 5000 --seconds 20 --warmup 10 --fill 0]`: a backup during webhooks at a fixed rate, of a
 * store that has `fill` finished executions before. The backup is
 * restored, and compared with the original by count and by the digest of every execution that was stored a second or more
 * before its point; a slow sender also checks each acknowledged execution by its id. Prints the latency of accepting without
 * and with the backup, its duration and sizes. Accepted executions stay queued, so that only accepting is measured.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { deploy } from "../support/project.ts";
import { call, ok } from "../support/rest.ts";
import { bareEnvironment, root } from "../support/runtimes.ts";
import { TestServer } from "../support/server.ts";
import type { AcceptedJson } from "../support/shapes.ts";
import { load } from "./limit/child.ts";

const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "5000" },
    seconds: { type: "string", default: "20" },
    warmup: { type: "string", default: "10" },
    fill: { type: "string", default: "0" },
  },
});
const [rate, seconds, warmup] = [Number(values.rate), Number(values.seconds), Number(values.warmup)];
const marginMs = 1000;
const folder = mkdtempSync(join(tmpdir(), "svc-backup-"));
const [file, restored] = [join(folder, "backup.tar"), join(folder, "restored")];
const server = new TestServer("node", {
  env: {
    SVC_CONCURRENCY: "1",
    SVC_WEBHOOK_RATE: "10000000",
    SVC_WEBHOOK_BURST: "10000000",
    SVC_ORGANIZATION_RATE: "10000000",
    SVC_ORGANIZATION_BURST: "10000000",
  },
});
await server.start();
try {
  const agents = {
    busy: {
      code: "export default () => new Promise(() => {});",
      timeout: 3600,
      webhooks: [{ slug: "in" }],
    },
  };
  const url = (await deploy(server, { agents })).webhooks[0]?.url ?? "";
  /** A machine that cannot keep up with the rate loses requests; the comparison of the stores is still valid. */
  const send = (forSeconds: number): Promise<string> =>
    load({ url, bodyBytes: 150, seconds: forSeconds, ratePerSecond: rate, headers: {} }).then(
      ({ perSecond, latencyMs }) => `${Math.round(perSecond)}/s, ${JSON.stringify(latencyMs)} ms`,
      (error: unknown) => `invalid: ${error instanceof Error ? error.message : error}`,
    );

  fill(Number(values.fill));
  const before = await send(warmup);
  const walBefore = sizeOf("svc.db-wal");
  const during = send(seconds);
  const acknowledged = sendSlowly(url);
  await setTimeout(3000);
  const startMs = performance.now();
  const { stdout } = await admin("backup", file, "--with-master-key", "--json", "--data", server.dataDir);
  const backupMs = performance.now() - startMs;
  const walDuring = sizeOf("svc.db-wal");
  const { created_at, size_bytes } = JSON.parse(stdout) as { created_at: string; size_bytes: number };
  const acknowledgedIds = await acknowledged.stop();
  const loaded = await during;
  await server.kill("SIGTERM");
  const restoreMs = performance.now();
  await admin("restore", file, "--data", restored);
  console.log(
    `backup ${(backupMs / 1000).toFixed(1)} s, ${mb(size_bytes)} MB; restore ${((performance.now() - restoreMs) / 1000).toFixed(1)} s; write-ahead log ${mb(walBefore)} MB before, ${mb(walDuring)} MB after the backup`,
  );
  console.log(`without a backup: ${before}`);
  console.log(`with the backup:  ${loaded}`);

  const pointMs = Date.parse(created_at);
  const [original, copy] = [digest(server.dataDir, pointMs - marginMs), digest(restored, pointMs - marginMs)];
  console.log(
    `stored ${marginMs} ms before the point: ${original.count} executions, digest ${original.sha256.slice(0, 16)}`,
  );
  console.log(`the same in the copy:         ${copy.count} executions, digest ${copy.sha256.slice(0, 16)}`);
  const expected = acknowledgedIds.filter(({ atMs }) => atMs <= pointMs);
  const missing = missingIn(
    restored,
    expected.map(({ id }) => id),
  );
  console.log(
    `acknowledged to the slow sender before the point: ${expected.length}, missing in the copy: ${missing}`,
  );
  if (original.count !== copy.count || original.sha256 !== copy.sha256 || missing > 0) {
    throw new Error("The restored store differs.");
  }
  const again = new TestServer("node", { dataDir: restored, env: { SVC_API_KEY: server.apiKey } });
  await again.start();
  await ok(again, "GET", "/health");
  await again.kill("SIGKILL");
  console.log("The restored service starts. Every acknowledged execution is there.");
} finally {
  await server.discard(false);
  rmSync(folder, { recursive: true });
}

function admin(...args: string[]): Promise<{ stdout: string }> {
  const launcher = join(root, "cli/launcher.js");
  return promisify(execFile)(process.execPath, [launcher, "admin", ...args], { env: bareEnvironment() });
}

/** Sends one webhook after the other and keeps the ids. */
function sendSlowly(url: string): { stop(): Promise<{ id: string; atMs: number }[]> } {
  let stopped = false;
  const sending = (async () => {
    const acknowledged: { id: string; atMs: number }[] = [];
    while (!stopped) {
      const { status, json } = await call<AcceptedJson>(server, "POST", url, { key: null, json: {} });
      if (status === 202) acknowledged.push({ id: json.execution_id, atMs: Date.now() });
      await setTimeout(5);
    }
    return acknowledged;
  })();
  return {
    stop() {
      stopped = true;
      return sending;
    },
  };
}

/** Adds finished executions. */
function fill(count: number): void {
  const db = new DatabaseSync(join(server.dataDir, "svc.db"));
  db.exec("PRAGMA busy_timeout = 30000");
  db.exec(`INSERT INTO executions (org_id, execution_id, status, kind, name, origin, deployment_id, environment, input, output,
    due_at, created_at, finished_at)
  WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT ${count})
  SELECT 'org_fill', printf('exe_%026d', n), 'succeeded', 'agent', 'a', 'api', 'dep_fill', 'production',
    hex(randomblob(75)), hex(randomblob(75)), 1, 1, ${Date.now()} FROM numbers LIMIT ${count}`);
  db.close();
}

function digest(dataDir: string, beforeMs: number): { count: number; sha256: string } {
  const db = new DatabaseSync(join(dataDir, "svc.db"));
  const hash = createHash("sha256");
  let count = 0;
  const select = db.prepare(
    "SELECT execution_id, input, created_at, webhook FROM executions WHERE created_at < ? ORDER BY execution_id",
  );
  for (const row of select.iterate(beforeMs)) {
    hash.update(JSON.stringify(row));
    count++;
  }
  db.close();
  return { count, sha256: hash.digest("hex") };
}

function missingIn(dataDir: string, ids: readonly string[]): number {
  const db = new DatabaseSync(join(dataDir, "svc.db"));
  const select = db.prepare("SELECT 1 FROM executions WHERE execution_id = ?");
  const missing = ids.filter((id) => select.get(id) === undefined).length;
  db.close();
  return missing;
}

function sizeOf(name: string): number {
  return statSync(join(server.dataDir, name)).size;
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
