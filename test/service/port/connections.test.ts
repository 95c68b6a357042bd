/** Connections: how many may be open, and which ones the server closes. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { frame, frameType, preface, request } from "../../support/frames.ts";
import { reuseAfterPause } from "../../support/idle.ts";
import { exchange, head } from "../../support/raw.ts";
import { call } from "../../support/rest.ts";
import { runtimes } from "../../support/runtimes.ts";
import type { TestServer } from "../../support/server.ts";
import { onEveryRuntime, useServer } from "../../support/suite.ts";

const hasProc = existsSync("/proc/self/fd");
const descriptors = (server: TestServer) => readdirSync(`/proc/${server.pid}/fd`).length;

onEveryRuntime("connections", {}, (server) => {
  test("closes a connection that sends FIN before any byte", async () => {
    const connections = await Promise.all(Array.from({ length: 50 }, () => open(server)));
    const closed = connections.map(({ closed }) => closed);
    for (const { socket } of connections) socket.end();
    await Promise.all(closed);
    expect(await alive(server)).toBe(true);
  });

  test("closes an HTTP/2 connection whose client sends FIN while a stream is open", async () => {
    const { socket, closed } = await open(server);
    socket.write(preface);
    socket.write(frame(frameType.settings, 0, 0));
    const more = { authorization: `Bearer ${server.apiKey}` };
    socket.write(request(1, "/api/v1/logs?follow=true&lines=0", "GET", more));
    await new Promise((resolve) => socket.once("data", resolve));
    socket.end();
    await closed;
  });

  // Deno crashed after some dozens of them: a session was closed while it read the frame.
  test("survives GOAWAY frames of HTTP/2 clients", async () => {
    for (let round = 0; round < (server.runtime === "deno" ? 150 : 20); round++) {
      await Promise.all([closeAfterCalls(server.url, 1 + (round % 4)), closeAfterCalls(server.url, 1)]);
    }
    for (const [received, code] of [
      [false, 0],
      [true, 0],
      [true, 2],
    ] as const) {
      const { socket, closed } = await open(server);
      socket.write(Buffer.concat([preface, frame(frameType.settings, 0, 0), request(1, "/livez")]));
      if (received) await new Promise((resolve) => socket.once("data", resolve));
      socket.end(frame(frameType.goaway, 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, code])));
      await closed;
    }
    expect(await alive(server)).toBe(true);
  });

  describe("an HTTP/2 client that", () => {
    const floods: Record<string, (socket: Socket) => Iterable<Buffer>> = {
      *"resets its streams at once"() {
        for (let stream = 1; stream < 20_000; stream += 2) {
          yield request(stream, "/livez");
          yield frame(frameType.resetStream, 0, stream, Buffer.from([0, 0, 0, 8]));
        }
      },
      *"sends PING frames without end"() {
        for (let count = 0; count < 20_000; count++) yield frame(frameType.ping, 0, 0, Buffer.alloc(8));
      },
      *"sends SETTINGS frames without end"() {
        for (let count = 0; count < 20_000; count++) yield frame(frameType.settings, 0, 0);
      },
      *"sends CONTINUATION frames without end"() {
        yield frame(frameType.headers, 1, 1, Buffer.alloc(0));
        const block = Buffer.concat([Buffer.from([0, 1, 0x61, 100]), Buffer.alloc(100, "b")]);
        for (let count = 0; count < 20_000; count++) yield frame(frameType.continuation, 0, 1, block);
      },
      *"sends empty CONTINUATION frames without end"() {
        yield frame(frameType.headers, 1, 1, Buffer.alloc(0));
        for (let count = 0; count < 50_000; count++) yield frame(frameType.continuation, 0, 1);
      },
      *"sends empty DATA frames without end"() {
        yield request(1, "/svc.v1.HealthService/Check", "POST", {
          "content-type": "application/grpc",
          authorization: `Bearer ${server.apiKey}`,
        });
        for (let count = 0; count < 50_000; count++) yield frame(frameType.data, 0, 1);
      },
      *"opens more streams than allowed"() {
        for (let stream = 1; stream < 4_000; stream += 2) {
          yield request(stream, "/api/v1/logs?follow=true&lines=0", "GET", {
            authorization: `Bearer ${server.apiKey}`,
          });
        }
      },
    };

    // Bun reads empty CONTINUATION frames for as long as they arrive; each costs it as little as the client.
    const names = Object.keys(floods).filter(
      (name) => server.runtime !== "bun" || !name.startsWith("sends empty CONTINUATION"),
    );
    test.each(names)("%s is disconnected", async (name) => {
      const { socket, closed } = await open(server);
      socket.write(preface);
      socket.write(frame(frameType.settings, 0, 0));
      for (const bytes of floods[name]?.(socket) ?? []) {
        if (!socket.writable) break;
        if (!socket.write(bytes))
          await Promise.race([new Promise((done) => socket.once("drain", done)), closed]);
      }
      await closed;
      expect(await alive(server)).toBe(true);
    });
  });

  test("keeps an idle connection of HTTP/1.1 open", async () => {
    const { hostname, port } = new URL(server.url);
    const statuses = await reuseAfterPause(connect(Number(port), hostname));
    expect(statuses).toEqual(["HTTP/1.1 200 OK", "HTTP/1.1 200 OK"]);
  });

  test("rejects TRACE on every kind of path", async () => {
    for (const path of ["/livez", "/health", "/api/v1/executions", "/svc.v1.HealthService/Check"]) {
      const headers = { authorization: `Bearer ${server.apiKey}` };
      const [answer] = await exchange(server, head(`TRACE ${path}`, headers));
      expect([answer?.status, answer?.body.includes(server.apiKey)], path).toEqual([405, false]);
      expect(answer?.headers.get("allow"), path).toMatch(/GET|POST/);
    }
  });

  test("rejects a request with two Host headers, or with another transfer coding than chunked", async () => {
    const two = "GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n";
    expect((await exchange(server, two))[0]?.status).toBe(400);
    const coded = head("POST /api/v1/executions", { "transfer-encoding": "gzip, chunked" });
    expect([400, 501]).toContain((await exchange(server, `${coded}0\r\n\r\n`))[0]?.status);
  });

  test("rejects an unknown host on loopback", async () => {
    const status = async (host: string) => (await exchange(server, head("GET /livez", { host })))[0]?.status;
    for (const host of ["localhost", "LOCALHOST:7070", "127.0.0.1:80", "[::1]:7070", "localhost.:1"]) {
      expect(await status(host), host).toBe(200);
    }
    for (const host of ["rebound.example", "rebound.example:7070", "127.0.0.1.example", "evil@localhost"]) {
      expect(await status(host), host).toBe(421);
    }
    const absolute = "GET http://rebound.example/livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    expect((await exchange(server, absolute))[0]?.status).toBe(421);
    const own = "GET http://localhost:7070/livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    expect((await exchange(server, own))[0]?.status).toBe(200);
  });

  // Last, because the limit stays. Deno stops accepting for good when `accept` fails, so that only the limit of connections
  // keeps it from that.
  test.runIf(hasProc && hasPrlimit() && server.runtime !== "deno")(
    "survives a full descriptor table",
    async () => {
      await call(server, "GET", "/health");
      const [, limit = ""] =
        /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync(`/proc/${server.pid}/limits`, "utf8")) ?? [];
      const soft = descriptors(server) + 10;
      execFileSync("prlimit", [`--pid=${server.pid}`, `--nofile=${soft}:${limit}`]);
      const connections = await Promise.all(Array.from({ length: 60 }, () => open(server).catch(() => null)));
      const answers = connections.flatMap((connection) => {
        if (connection === null) return [];
        const { socket, closed } = connection;
        socket.write(head("GET /livez"));
        return [new Promise((resolve) => socket.once("data", resolve)), closed];
      });
      await Promise.race(answers);
      for (const connection of connections) connection?.socket.destroy();
      for (let tries = 0; !(await alive(server)); tries++) expect(tries).toBeLessThan(30);
      expect((await call(server, "GET", "/health")).status).toBe(200);
    },
  );
});

describe.each(runtimes)("connection limits on %s", (runtime) => {
  const env = { SVC_MAX_CONNECTIONS_PER_ADDRESS: "20", SVC_ALLOWED_HOSTS: "svc.internal, other.example" };
  const server = useServer(runtime, { env });

  test("refuse further connections from an address until one closes", async () => {
    const connections = await Promise.all(Array.from({ length: 30 }, () => open(server)));
    const refused = await Promise.all(
      connections.map(async ({ socket, closed }) => {
        socket.write(head("GET /livez", { host: "other.example" }));
        const answer = new Promise<boolean>((resolve) => socket.once("data", () => resolve(false)));
        return Promise.race([answer, closed.then(() => true)]);
      }),
    );
    expect(refused.filter(Boolean).length).toBeGreaterThanOrEqual(10);
    expect(refused.filter(Boolean).length).toBeLessThan(30);
    await server.printed(/Refused \d+ connections: .*SVC_MAX_CONNECTIONS_PER_ADDRESS/);
    for (const { socket } of connections) socket.destroy();
    await Promise.all(connections.map(({ closed }) => closed));
    for (let tries = 0; !(await alive(server)); tries++) expect(tries).toBeLessThan(30);
  });

  test("accept the configured host names", async () => {
    for (const [host, status] of Object.entries({ "svc.internal:99": 200, "other.example": 200, x: 421 })) {
      expect((await exchange(server, head("GET /livez", { host })))[0]?.status).toBe(status);
    }
  });
});

interface Connection {
  socket: Socket;
  /** Resolves when the server has closed the connection, or reset it. */
  closed: Promise<void>;
}

function open(server: TestServer): Promise<Connection> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const closed = new Promise<void>((done) => {
      socket.once("end", () => {
        done();
        socket.destroy();
      });
      socket.once("close", () => done());
    });
    socket.once("error", reject);
    socket.on("error", () => {});
    socket.once("connect", () => resolve({ socket, closed }));
    socket.resume();
  });
}

/** Whether a new connection is served within a second. */
async function alive(server: TestServer): Promise<boolean> {
  const answers = exchange(server, head("GET /livez", { connection: "close" })).catch(() => []);
  const none = new Promise<[]>((resolve) => setTimeout(resolve, 1000, []));
  const [answer] = await Promise.race([answers, none]);
  return answer?.status === 200;
}

function hasPrlimit(): boolean {
  try {
    execFileSync("prlimit", ["--version"]);
    return true;
  } catch {
    return false;
  }
}

/** Makes calls with a body over one HTTP/2 connection and closes it with GOAWAY. */
async function closeAfterCalls(url: string, calls: number): Promise<void> {
  const session = connectHttp2(url);
  const closed = new Promise((resolve, reject) => session.once("close", resolve).once("error", reject));
  for (let call = 0; call < calls; call++) {
    const stream = session.request({
      ":method": "POST",
      ":path": "/a.B/C",
      "content-type": "application/grpc",
    });
    const answered = new Promise((resolve, reject) => stream.once("response", resolve).once("error", reject));
    stream.resume();
    stream.end(Buffer.alloc(5));
    await answered;
  }
  session.close();
  await closed;
}
