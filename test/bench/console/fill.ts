/** Fills the store of a stopped server with executions of the last week, as its own code would have left them. */
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { firstOrderedId } from "../../../server/ids.ts";
import { hourMs, minuteMs } from "../../../server/store/tables/counters.ts";

export interface Filled {
  /** An execution in the middle of the list. */
  executionId: string;
  failed: number;
}

const targets = Array.from({ length: 10 }, (_, index) => `agent-${index}`);
/** The target of the three oldest executions. */
export const rareTarget = "rare";
const weekMs = 7 * 24 * hourMs;

export function fill(dataDir: string, count: number): Filled {
  const db = new DatabaseSync(join(dataDir, "svc.db"));
  db.exec("PRAGMA synchronous = OFF");
  const { org_id: orgId } = db.prepare("SELECT org_id FROM organizations").get() as { org_id: string };
  const { deployment_id: deploymentId } = db
    .prepare("SELECT deployment_id FROM deployments WHERE status = 'active'")
    .get() as { deployment_id: string };
  const insert =
    db.prepare(`INSERT INTO executions (org_id, execution_id, status, kind, name, origin, deployment_id,
    environment, input, output, error, webhook, headers, size_bytes, due_at, created_at, started_at, finished_at)
  VALUES (?, ?, ?, 'agent', ?, ?, ?, 'production', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const stack = Array.from({ length: 8 }, (_, line) => `    at step${line} (agents/agent.ts:${line + 3}:5)`);
  const error = JSON.stringify({
    name: "TypeError",
    message: "Cannot read properties of undefined",
    stack: stack.join("\n"),
  });
  const headers = JSON.stringify({ "content-type": "application/json", "user-agent": "bench" });
  const endMs = Date.now() - minuteMs;
  const minutes = new Map<number, { accepted: number; succeeded: number; failed: number }>();
  let [executionId, failed] = ["", 0];
  db.exec("BEGIN");
  for (let index = 0; index < count; index++) {
    const at = endMs - weekMs + Math.floor((weekMs * index) / count);
    const id = firstOrderedId("exe", at).slice(0, 14) + index.toString().padStart(16, "0");
    const isFailed = index % 50 === 7;
    const origin = index % 10 < 7 ? "webhook" : index % 10 < 9 ? "schedule" : "run";
    const name = index < 3 ? rareTarget : (targets[randomInt(targets.length)] ?? "");
    const input = JSON.stringify({ number: index, title: "Crash at start", body: "x".repeat(300) });
    const isWebhook = origin === "webhook";
    insert.run(
      ...[orgId, id, isFailed ? "failed" : "succeeded", name, origin, deploymentId, input],
      ...[isFailed ? null : JSON.stringify({ ok: true, number: index }), isFailed ? error : null],
      ...[isWebhook ? "in" : null, isWebhook ? headers : null, isWebhook ? input.length : null],
      ...[at, at, at + 5, at + 5 + randomInt(900)],
    );
    const minute = Math.floor(at / minuteMs) * minuteMs;
    const counts = minutes.get(minute) ?? { accepted: 0, succeeded: 0, failed: 0 };
    minutes.set(minute, counts);
    counts.accepted += isWebhook ? 1 : 0;
    counts.succeeded += isFailed ? 0 : 1;
    counts.failed += isFailed ? 1 : 0;
    failed += isFailed ? 1 : 0;
    if (index === Math.floor(count / 2)) executionId = id;
  }
  const add =
    db.prepare(`INSERT INTO statistics (org_id, environment, span, at, accepted, rejected, ignored, succeeded,
    failed, cancelled, ${Array.from({ length: 16 }, (_, index) => `d${index}`).join(", ")})
  VALUES (?, 'production', ?, ?, ?, 0, 0, ?, ?, 0, 0, 0, 0, 0, 0, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  ON CONFLICT (org_id, span, at, environment) DO UPDATE SET accepted = accepted + excluded.accepted,
    succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed, d5 = d5 + excluded.d5`);
  for (const [at, counts] of minutes) {
    for (const span of [minuteMs, hourMs]) {
      const start = Math.floor(at / span) * span;
      const ended = counts.succeeded + counts.failed;
      add.run(orgId, span, start, counts.accepted, counts.succeeded, counts.failed, ended);
    }
  }
  db.exec("COMMIT");
  db.close();
  return { executionId, failed };
}
