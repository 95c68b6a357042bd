/**
 * The limit program: the rate of durable webhooks that `node:http`, `JSON.parse` and `node:sqlite` reach on this machine.
 * Every body is parsed and stored as a row. All rows of one turn of the event loop share one transaction, which is synced
 * to disk (WAL, `synchronous=FULL`) before their requests are answered with 202.
 *
 * `node program.ts <folder>` prints its URL and exits when its standard input ends.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

interface Waiting {
  text: string;
  response: ServerResponse;
}

const database = new DatabaseSync(join(process.argv[2] ?? ".", "limit.db"));
database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
database.exec("CREATE TABLE IF NOT EXISTS webhooks (id INTEGER PRIMARY KEY, input TEXT NOT NULL)");
const insert = database.prepare("INSERT INTO webhooks (input) VALUES (?)");

let waiting: Waiting[] = [];

function commit(): void {
  const batch = waiting;
  waiting = [];
  database.exec("BEGIN IMMEDIATE");
  const ids = batch.map(({ text }) => insert.run(text).lastInsertRowid);
  database.exec("COMMIT");
  for (const [at, { response }] of batch.entries()) {
    const body = `{"execution_id":"${ids[at]}","status":"queued"}`;
    response.writeHead(202, { "Content-Type": "application/json", "Content-Length": body.length });
    response.end(body);
  }
}

function accept(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const text = (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString();
    try {
      JSON.parse(text);
    } catch {
      response.writeHead(400).end();
      return;
    }
    if (waiting.push({ text, response }) === 1) setImmediate(commit);
  });
}

const server = createServer(accept);
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
process.stdin.resume().on("end", () => process.exit());
