/**
 * A server that calls `readBody`, for each runtime; HTTP/1.1 or, with the argument `h2`, HTTP/2. It prints its port and, for
 * every request, one line of JSON: the result, and the listeners on the request before and after.
 */
import { createHash } from "node:crypto";
import { createServer as createServer1, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createServer2, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { AddressInfo } from "node:net";
import { readBody } from "../../server/webhooks/body.ts";

const runtime = "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";
const events = ["data", "end", "close", "error"];

async function answer(
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
): Promise<void> {
  const count = () => events.map((event) => request.listenerCount(event)).join();
  const before = count();
  const [maxBytes = 1000, timeoutMs = 10_000] = (request.url ?? "").slice(1).split("/").map(Number);
  const result = await readBody(request, { maxBytes, timeoutMs });
  const told = result.ok
    ? { size: result.body.length, sha256: createHash("sha256").update(result.body).digest("hex") }
    : { code: result.code, message: result.message };
  console.log(JSON.stringify({ runtime, ...told, before, after: count() }));
  if (!result.ok && request.httpVersionMajor === 1) response.setHeader("Connection", "close");
  response.statusCode = result.ok ? 200 : 400;
  response.end("ok");
}

const server = process.argv[2] === "h2" ? createServer2(answer) : createServer1(answer);
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
process.stdin.resume().on("end", () => process.exit());
