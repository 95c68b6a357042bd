/** HTTP and HTTPS servers for the suite. A control server returns their requests, so reading them adds none. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { createCertificates } from "./certificate.ts";
import { routes } from "./routes.ts";

export interface LoggedRequest {
  /** `main`, `other` or `secure`. */
  server: string;
  method: string;
  url: string;
  headers: Record<string, string | string[] | undefined>;
  /** Address of the server that the client connected to. */
  localAddress: string;
  /** Host name of the TLS handshake; null without TLS. */
  serverName: string | null;
}

export interface TestServers {
  mainPort: number;
  otherPort: number;
  securePort: number;
  /** `GET` returns `{ requests, connections }` since the last `DELETE`. */
  controlUrl: string;
  /** PEM of the authority of the HTTPS server. */
  authority: string;
  close(): void;
}

export async function startServers(): Promise<TestServers> {
  const { authority, certificate, key } = createCertificates(["api.test", "other.test"]);
  let requests: LoggedRequest[] = [];
  let connections = 0;
  const sockets = new Set<Socket>();

  function handler(server: string): (request: IncomingMessage, response: ServerResponse) => void {
    return (request, response) => {
      const { method = "", url = "", headers, socket } = request;
      const serverName =
        "servername" in socket && typeof socket.servername === "string" ? socket.servername : null;
      const localAddress = (socket.localAddress ?? "").replace("::ffff:", "");
      requests.push({ server, method, url, headers, localAddress, serverName });
      const found = routes[new URL(url, "http://x").pathname.split("/")[2] ?? ""];
      if (found) Promise.resolve(found(request, response)).catch(() => request.socket.destroy());
      else response.writeHead(404).end();
    };
  }

  async function listen(server: Server, host: string): Promise<number> {
    server.on("connection", (socket: Socket) => {
      connections++;
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    server.listen(0, host);
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }

  const main = http.createServer(handler("main"));
  const other = http.createServer(handler("other"));
  const secure = https.createServer({ cert: certificate, key }, handler("secure"));
  const control = http.createServer((request, response) => {
    if (request.method === "DELETE") {
      requests = [];
      connections = 0;
    }
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ requests, connections }));
  });
  const servers = [main, other, secure, control];
  // A pause of the machine must not close connections that a client is about to use.
  for (const server of servers) server.keepAliveTimeout = 0;
  const mainPort = await listen(main, "0.0.0.0");
  const otherPort = await listen(other, "0.0.0.0");
  const securePort = await listen(secure, "0.0.0.0");
  control.listen(0, "127.0.0.1");
  await once(control, "listening");
  return {
    mainPort,
    otherPort,
    securePort,
    controlUrl: `http://127.0.0.1:${(control.address() as AddressInfo).port}/`,
    authority,
    close() {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
      control.closeAllConnections();
    },
  };
}

export function sha256(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
