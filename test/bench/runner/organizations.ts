import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestServer } from "../../support/server.ts";

const tables = ["organizations", "objects", "deployments", "targets", "webhooks"];

/**
 * Copies the organization of a stopped server with its deployment. The package is not copied, so that the copies accept
 * webhooks and do not execute them. @returns the organization and its copies
 */
export function copyOrganization(server: TestServer, from: number, to: number): string[] {
  const db = new DatabaseSync(join(server.dataDir, "svc.db"));
  const original = String(
    db.prepare("SELECT org_id FROM organizations ORDER BY created_at LIMIT 1").get()?.org_id,
  );
  const rows = tables.map((table) => ({
    table,
    rows: db.prepare(`SELECT * FROM ${table} WHERE org_id = ?`).all(original),
  }));
  const named = (text: string, n: number) => text.slice(0, -5) + String(n).padStart(5, "0");
  db.exec("BEGIN IMMEDIATE");
  for (let n = from; n < to; n++) {
    for (const { table, rows: list } of rows) {
      for (const row of list) {
        const copy = { ...row, org_id: named(original, n) };
        if (typeof row.deployment_id === "string")
          Object.assign(copy, { deployment_id: named(row.deployment_id, n) });
        const columns = Object.keys(copy);
        const marks = columns.map(() => "?").join(", ");
        db.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`).run(
          ...Object.values(copy),
        );
      }
    }
  }
  db.exec("COMMIT");
  db.close();
  return [original, ...Array.from({ length: to - 1 }, (_, index) => named(original, index + 1))];
}
