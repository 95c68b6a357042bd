/**
 * The limit of draining: a loop that claims 500 executions in one synced transaction of SQLite, sends them to a forked child
 * in one message, and writes their outputs in the next transaction. One batch runs while the next one is claimed.
 *
 * `node loop.ts <folder> <executions>` prints `{"perSecond": …}`.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

const batchSize = 500;
const [folder = ".", executions = "10000"] = process.argv.slice(2);

const database = new DatabaseSync(join(folder, "loop.db"));
database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
database.exec(
  "CREATE TABLE queue (id TEXT PRIMARY KEY, input TEXT NOT NULL, status TEXT NOT NULL, output TEXT)",
);
database.exec("CREATE INDEX queued ON queue (id) WHERE status = 'queued'");
const insert = database.prepare("INSERT INTO queue (id, input, status) VALUES (?, ?, 'queued')");
const claim = database.prepare(`UPDATE queue SET status = 'running'
  WHERE id IN (SELECT id FROM queue WHERE status = 'queued' ORDER BY id LIMIT ${batchSize}) RETURNING id, input`);
const finish = database.prepare("UPDATE queue SET status = 'succeeded', output = ? WHERE id = ?");

const child = fork(fileURLToPath(new URL("loop-child.ts", import.meta.url)));
fill(500, "warm");
await drain();
fill(Number(executions), "exe");
const startedAt = performance.now();
await drain();
const seconds = (performance.now() - startedAt) / 1000;
const { count } =
  database.prepare("SELECT COUNT(*) AS count FROM queue WHERE status = 'succeeded'").get() ?? {};
if (count !== Number(executions) + 500) throw new Error(`The loop has run ${count} executions.`);
console.log(JSON.stringify({ perSecond: Number(executions) / seconds }));
child.disconnect();

function fill(rows: number, prefix: string): void {
  database.exec("BEGIN");
  for (let row = 0; row < rows; row++) insert.run(`${prefix}_${String(row).padStart(26, "0")}`, '{"n":1}');
  database.exec("COMMIT");
}

async function drain(): Promise<void> {
  let results: { id: string; output: string }[] = [];
  let running = claimNext(results);
  while (running > 0) {
    const answer = once(child, "message");
    results = (await answer)[0];
    running = claimNext(results);
  }
}

/** Writes outputs and claims the next batch in one transaction, and sends the batch. */
function claimNext(results: readonly { id: string; output: string }[]): number {
  database.exec("BEGIN IMMEDIATE");
  for (const { id, output } of results) finish.run(output, id);
  const batch = claim.all();
  database.exec("COMMIT");
  if (batch.length > 0) child.send(batch);
  return batch.length;
}
