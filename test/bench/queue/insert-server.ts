/** An HTTP server that stores each webhook with one insert per request: `insert-server.ts <database url>` prints its URL. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.argv[2] ?? "", max: 9 });
await pool.query(
  "CREATE TABLE webhooks (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, input TEXT NOT NULL)",
);
const insert = { name: "insert", text: "INSERT INTO webhooks (input) VALUES ($1) RETURNING id" };

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", async () => {
    const text = Buffer.concat(chunks).toString();
    JSON.parse(text);
    const { rows } = await pool.query<{ id: string }>({ ...insert, values: [text] });
    const body = `{"execution_id":"${rows[0]?.id}","status":"queued"}`;
    response.writeHead(202, { "Content-Type": "application/json", "Content-Length": body.length }).end(body);
  });
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
process.stdin.resume().on("end", () => process.exit());
