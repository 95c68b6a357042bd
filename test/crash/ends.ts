/** Database triggers that count how often an execution ends, and record executions that run again after their end. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export function open(dataDir: string): DatabaseSync {
  const db = new DatabaseSync(join(dataDir, "svc.db"));
  db.exec("PRAGMA busy_timeout = 5000");
  return db;
}

export function countEnds(dataDir: string): void {
  const db = open(dataDir);
  db.exec(`CREATE TABLE test_ends (id TEXT, status TEXT);
CREATE TABLE test_revivals (id TEXT);
CREATE TRIGGER test_end AFTER UPDATE OF status ON executions
WHEN NEW.status IN ('succeeded', 'failed', 'cancelled')
BEGIN INSERT INTO test_ends VALUES (NEW.execution_id, NEW.status); END;
CREATE TRIGGER test_revival AFTER UPDATE OF status ON executions
WHEN OLD.status IN ('succeeded', 'failed', 'cancelled')
BEGIN INSERT INTO test_revivals VALUES (NEW.execution_id); END;`);
  db.close();
}

/** Executions that ended more than once, or ran again after their end. */
export function violations(dataDir: string): { doubles: unknown[]; revivals: unknown[] } {
  const db = open(dataDir);
  try {
    return {
      doubles: db.prepare("SELECT id, count(*) AS n FROM test_ends GROUP BY id HAVING n <> 1").all(),
      revivals: db.prepare("SELECT id FROM test_revivals").all(),
    };
  } finally {
    db.close();
  }
}
