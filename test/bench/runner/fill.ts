import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { orderedId } from "../../../server/ids.ts";
import type { TestServer } from "../../support/server.ts";

export interface FillOptions {
  /** Default: now. */
  dueAt?: number;
  input?: string;
}

/** Queues executions like the first one in the embedded store, in one transaction. The server may run. */
export function fill(server: TestServer, count: number, { dueAt, input = "{}" }: FillOptions = {}): void {
  const db = new DatabaseSync(join(server.dataDir, "svc.db"));
  db.exec("PRAGMA busy_timeout = 10000");
  const {
    org_id = "",
    kind = "",
    name = "",
    deployment_id = "",
    environment = "",
  } = db.prepare("SELECT * FROM executions LIMIT 1").get() ?? {};
  const insert = db.prepare(
    `INSERT INTO executions (org_id, execution_id, status, kind, name, origin, deployment_id, environment, input, due_at,
     created_at) VALUES (?, ?, 'queued', ?, ?, 'webhook', ?, ?, ?, ?, ?)`,
  );
  const ids = Array.from({ length: count }, () => orderedId("exe"));
  const now = Date.now();
  db.exec("BEGIN IMMEDIATE");
  for (const id of ids)
    insert.run(org_id, id, kind, name, deployment_id, environment, input, dueAt ?? now, now);
  db.exec("COMMIT");
  db.close();
}
