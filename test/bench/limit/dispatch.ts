/**
 * The limit of latency: the limit program, with a child process that runs a handler for each webhook after its commit.
 * `node dispatch.ts <folder>` prints its URL. `GET /latencies` returns the milliseconds from the `t` of each body, in
 * microseconds since 1970, to the first line of the handler, and forgets them.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

const database = new DatabaseSync(join(process.argv[2] ?? ".", "dispatch.db"));
database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
database.exec("CREATE TABLE webhooks (id INTEGER PRIMARY KEY, input TEXT NOT NULL)");
const insert = database.prepare("INSERT INTO webhooks (input) VALUES (?)");
const child = fork(fileURLToPath(new URL("dispatch-child.ts", import.meta.url)));
await once(child, "message");

let latencies: number[] = [];
child.on("message", (ms) => latencies.push(ms as number));
let waiting: { text: string; response: ServerResponse }[] = [];

function commit(): void {
  const batch = waiting;
  waiting = [];
  database.exec("BEGIN IMMEDIATE");
  for (const { text } of batch) insert.run(text);
  database.exec("COMMIT");
  for (const { text, response } of batch) {
    child.send(JSON.parse(text));
    response.writeHead(202, { "Content-Length": 0 }).end();
  }
}

const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.end(JSON.stringify(latencies));
    latencies = [];
    return;
  }
  let text = "";
  request.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  request.on("end", () => {
    if (waiting.push({ text, response }) === 1) setImmediate(commit);
  });
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
process.stdin.resume().on("end", () => process.exit());
