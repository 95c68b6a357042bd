/**
 * An anonymous flood, at bounded rates and on loopback: slow senders, connections that close before a byte, compressed
 * bodies, oversized chunked bodies and HTTP/2 resets. As a program: `node test/bench/flood-senders.ts URL SECONDS`.
 */
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { frame, frameType, preface, request } from "../support/frames.ts";
import { head } from "../support/raw.ts";

export interface FloodCounts {
  connections: number;
  /** Connections that the server closed. */
  closed: number;
  errors: number;
}

const slowSenders = 300;
const perSecond = { fin: 200, compressed: 50, oversized: 2, resets: 5 };
const oversizedBytes = 16 * 1024 ** 2;

/** Floods until the signal aborts. @param scale - of the rates; 1 is the bench */
export async function flood(url: string, signal: AbortSignal, scale = 1): Promise<FloodCounts> {
  const { hostname, port } = new URL(url);
  if (!["127.0.0.1", "localhost"].includes(hostname)) throw new Error("The flood is for loopback only.");
  const counts: FloodCounts = { connections: 0, closed: 0, errors: 0 };
  const sockets = new Set<Socket>();
  const open = (send: (socket: Socket) => void): Socket => {
    counts.connections++;
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () => send(socket));
    sockets.add(socket);
    socket.on("error", () => counts.errors++);
    socket.once("end", () => {
      counts.closed++;
      socket.destroy();
    });
    socket.once("close", () => sockets.delete(socket));
    return socket.resume();
  };
  const bomb = gzipSync(Buffer.alloc(2 * 1024 ** 2, '{"a":'));
  const kinds: Record<keyof typeof perSecond, (socket: Socket) => void> = {
    fin: (socket) => socket.end(),
    compressed: (socket) => {
      const headers = { "content-type": "application/json", "content-encoding": "gzip" };
      socket.write(
        head("POST /svc.v1.ExecutionService/RunExecution", { ...headers, "content-length": bomb.length }),
      );
      socket.end(bomb);
    },
    oversized: sendOversized,
    resets: sendResets,
  };
  const timers = Object.entries(kinds).map(([kind, send]) =>
    setInterval(() => void open(send), 1000 / (scale * perSecond[kind as keyof typeof perSecond])),
  );
  for (let count = 0; count < slowSenders * scale; count++) slow(open, count, signal);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  for (const timer of timers) clearInterval(timer);
  for (const socket of sockets) socket.destroy();
  return counts;
}

/** Sends a byte per second, of a head or of a body, and connects again when the server closes the connection. */
function slow(open: (send: (socket: Socket) => void) => Socket, count: number, signal: AbortSignal): void {
  const starts = [
    "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ",
    head("POST /api/v1/executions", { "content-length": 1000 }),
    head("POST /svc.v1.HealthService/Check", { "content-length": 1000, "content-type": "application/json" }),
    head("GET /livez", { "content-length": 1000 }),
    "PRI * HTTP/2.0\r\n",
    "",
  ];
  let timer: NodeJS.Timeout | undefined;
  const socket = open(() => {
    socket.write(starts[count % starts.length] ?? "");
    timer = setInterval(() => void socket.write("x"), 1000);
  });
  socket.once("close", () => {
    clearInterval(timer);
    if (!signal.aborted) setTimeout(() => slow(open, count, signal), 100);
  });
}

function sendOversized(socket: Socket): void {
  socket.write(head("POST /api/v1/executions", { "transfer-encoding": "chunked" }));
  const chunk = Buffer.alloc(64 * 1024, "x");
  let sent = 0;
  const more = () => {
    while (sent < oversizedBytes && socket.writable) {
      sent += chunk.length;
      socket.write("10000\r\n");
      socket.write(chunk);
      if (!socket.write("\r\n")) {
        socket.once("drain", more);
        return;
      }
    }
    socket.end();
  };
  more();
}

function sendResets(socket: Socket): void {
  socket.write(preface);
  socket.write(frame(frameType.settings, 0, 0));
  const frames: Buffer[] = [];
  for (let stream = 1; stream < 2_000; stream += 2) {
    frames.push(request(stream, "/livez"));
    frames.push(frame(frameType.resetStream, 0, stream, Buffer.from([0, 0, 0, 8])));
  }
  socket.write(Buffer.concat(frames));
}

if (import.meta.main) {
  const [url = "", seconds = "60"] = process.argv.slice(2);
  console.log(JSON.stringify(await flood(url, AbortSignal.timeout(Number(seconds) * 1000))));
  process.exit(0);
}
