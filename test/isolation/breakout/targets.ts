/** What breakout attempts try to reach: files, processes and services outside the runner, all containing the prize. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Target } from "./package/attempts.ts";

export const prize = "TOP SECRET";

/** A file of the store, as the attempts see it. */
export function writeSecrets(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "secret"), prize);
  writeFileSync(join(folder, "secret.json"), JSON.stringify({ prize }));
  writeFileSync(join(folder, "secret.env"), `PRIZE=${prize}\n`);
  const database = new DatabaseSync(join(folder, "secret.db"));
  database.exec(`CREATE TABLE secret AS SELECT '${prize}' AS text`);
  database.close();
}

/** The services that run as long as the tests. All answer with the prize. */
export interface Services {
  port: number;
  socket: string;
  serverPid: number;
  close(): void;
}

export async function startServices(folder: string): Promise<Services> {
  const socket = join(folder, "service");
  const servers = Array.from({ length: 4 }, createAnswering);
  const [first, second, unix, abstract] = servers as [Server, Server, Server, Server];
  const port = await listening(first.listen(0, "127.0.0.1"));
  await Promise.all([
    listening(second.listen(port, "127.0.0.2")),
    listening(unix.listen(socket)),
    listening(abstract.listen(`\0${socket}`)),
  ]);
  const datagrams = createSocket("udp4");
  datagrams.on("message", (_, { port: from, address }) => datagrams.send(prize, from, address));
  await new Promise<void>((done) => datagrams.bind(port, "127.0.0.1", done));
  const server = startCanary();
  return {
    port,
    socket,
    serverPid: server.pid ?? 0,
    close() {
      for (const open of servers) {
        open.close();
        open.closeAllConnections();
      }
      datagrams.close();
      server.kill("SIGKILL");
    },
  };
}

function createAnswering(): Server {
  const server = createServer((_, response) => response.end(prize));
  server.on("upgrade", ({ headers }, socket) => {
    const key = `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.on("error", () => {});
    socket.resume();
  });
  return server;
}

async function listening(server: Server): Promise<number> {
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" ? ((address as AddressInfo | null)?.port ?? 0) : 0;
}

/** A process that attempts must not affect. */
export function startCanary(): ChildProcess {
  return spawn("sleep", ["600"], { env: { PRIZE: prize, PATH: process.env.PATH ?? "" }, stdio: "ignore" });
}

/** The target of one attempt, and whether the attempt changed it. */
export interface Watched {
  target: Target;
  changed(): boolean;
  close(): void;
}

export function watch(
  folder: string,
  withProcess: boolean,
  shared: Omit<Target, "outside" | "pid">,
): Watched {
  writeSecrets(folder);
  const before = describe(folder);
  const canary = withProcess ? startCanary() : null;
  return {
    target: { ...shared, outside: folder, pid: canary?.pid ?? 0 },
    changed: () =>
      describe(folder) !== before || (canary !== null && (canary.exitCode ?? canary.signalCode) !== null),
    close: () => void canary?.kill("SIGKILL"),
  };
}

/** The names, modes, times of change and contents of a folder's files. */
function describe(folder: string): string {
  const files = readdirSync(folder).sort();
  return files
    .map((name) => {
      const { mode, mtimeMs } = statSync(join(folder, name));
      return [name, mode, mtimeMs, name === "secret" ? readFileSync(join(folder, name), "utf8") : ""].join();
    })
    .join("\n");
}
