/**
 * A server of one thing, `readBody`, to be run on each runtime. It prints its port, then, for every request, one line of
 * JSON: what came of the body and what was left behind on the request.
 */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readBody } from "../../server/webhooks/body.ts";

const runtime = "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";
const events = ["data", "end", "close", "error"];

const server = createServer(async (request, response) => {
  const count = () => events.map((event) => request.listenerCount(event)).join();
  const before = count();
  const [maxBytes = 1000, timeoutMs = 10_000] = (request.url ?? "").slice(1).split("/").map(Number);
  const result = await readBody(request, { maxBytes, timeoutMs });
  const told = result.ok
    ? { size: result.body.length, sha256: createHash("sha256").update(result.body).digest("hex") }
    : { code: result.code, message: result.message };
  console.log(JSON.stringify({ runtime, ...told, before, after: count() }));
  if (!result.ok) response.setHeader("Connection", "close");
  response.writeHead(result.ok ? 200 : 400, { "Content-Length": 2 });
  response.end("ok");
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
process.stdin.resume().on("end", () => process.exit());
