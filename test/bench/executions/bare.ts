/** A server without store and runners: it runs the agent's line in the request handler. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => {
    const input: unknown = JSON.parse(body);
    const output = { at: performance.timeOrigin + performance.now(), input };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ output }));
  });
});
server.listen(0, "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
);
process.stdin.on("end", () => process.exit()).resume();
