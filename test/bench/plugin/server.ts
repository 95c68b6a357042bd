/** Server of the plugin benchmark. Prints its port. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const small = JSON.stringify({
  id: "usr_01h2x3y4z5",
  name: "Zoë Example",
  email: "zoe@example.com",
  roles: ["admin", "editor"],
  active: true,
  created_at: "2026-01-02T03:04:05Z",
  address: { street: "Main Street 1", city: "Springfield", zip: "12345" },
  score: 12.5,
  note: "x".repeat(60),
});
const large = `[${new Array(32).fill(small).join(",")}]`;
const piece = Buffer.alloc(65_536, 97);

const server = createServer((request, response) => {
  const url = new URL(request.url ?? "", "http://x");
  if (url.pathname === "/sink") {
    let bytes = 0;
    request.on("data", (data: Buffer) => {
      bytes += data.length;
    });
    request.on("end", () => json(JSON.stringify({ bytes })));
    return;
  }
  if (url.pathname === "/stream") return void stream(Number(url.searchParams.get("bytes")));
  request.resume();
  json(url.pathname === "/large" ? large : small, url.pathname === "/chunked");

  function json(body: string, chunked = false): void {
    response.setHeader("content-type", "application/json");
    if (!chunked) response.setHeader("content-length", Buffer.byteLength(body));
    else response.write(body.slice(0, 10));
    response.end(chunked ? body.slice(10) : body);
  }

  async function stream(bytes: number): Promise<void> {
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": bytes });
    for (let left = bytes; left > 0; left -= piece.length) {
      if (!response.write(piece.subarray(0, Math.min(left, piece.length)))) {
        await new Promise((resolve) => response.once("drain", resolve));
      }
    }
    response.end();
  }
});
// A pause of the machine must not close connections that the client is about to use.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
