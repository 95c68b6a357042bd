import dgram from "node:dgram";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { type Agent, type Attempt, absent, bun, deno, onDeno, subject } from "../attempts.ts";

async function speak(socket: net.Socket): Promise<string> {
  await once(socket, "connect");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  return String((await once(socket, "data"))[0]);
}

function get(options: http.RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    http
      .get(options, (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
        response.setEncoding("utf8").once("data", resolve);
      })
      .on("error", reject);
  });
}

/** A tunnel through the proxy of the sandbox. */
async function tunnel(target: string): Promise<string> {
  absent(process.env.HTTP_PROXY === undefined);
  const socket = net.connect(3128, "127.0.0.1");
  await once(socket, "connect");
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const answer = String((await once(socket, "data"))[0]);
  if (!answer.startsWith("HTTP/1.1 200")) throw new Error(answer);
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  return String((await once(socket, "data"))[0]);
}

export const attempts: Record<string, Attempt> = {
  "fetch of a loopback address": async ({ port }) =>
    (await succeed(fetch(`http://127.0.0.1:${port}/`))).text(),
  "fetch of localhost": async ({ port }) => (await succeed(fetch(`http://localhost:${port}/`))).text(),
  "fetch of another loopback address": async ({ port }) =>
    (await succeed(fetch(`http://127.0.0.2:${port}/`))).text(),
  "fetch of an address in decimal": async ({ port }) =>
    (await succeed(fetch(`http://2130706433:${port}/`))).text(),
  "fetch of an IPv4 address in IPv6": async ({ port }) =>
    (await succeed(fetch(`http://[::ffff:127.0.0.1]:${port}/`))).text(),
  "fetch of the unspecified address": async ({ port }) =>
    (await succeed(fetch(`http://0.0.0.0:${port}/`))).text(),
  "node:http": ({ port }) => get({ port, host: "127.0.0.1" }),
  "a TCP connection": ({ port }) => speak(net.connect(port, "127.0.0.1")),
  "a TCP connection after a lookup of its own": ({ port }) =>
    speak(
      net.connect({
        port,
        host: "name.example",
        lookup: (_, __, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }] as never, 4),
      }),
    ),
  "Deno.connect": async ({ port }) => {
    const connect =
      deno<(options: object) => Promise<{ readable: ReadableStream; writable: WritableStream }>>("connect");
    const { readable, writable } = await connect({ hostname: "127.0.0.1", port });
    await writable.getWriter().write(Buffer.from("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    return Buffer.from((await readable.getReader().read()).value).toString();
  },
  "Bun.connect": async ({ port }) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const client = await bun<(options: object) => Promise<net.Socket>>("connect")({
      hostname: "127.0.0.1",
      port,
      socket: {
        data: (_: unknown, data: Uint8Array) => resolve(Buffer.from(data).toString()),
        error: (_: unknown, error: Error) => reject(error),
      },
    });
    client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    return promise;
  },
  "a WebSocket": ({ port }) =>
    new Promise((resolve, reject) => {
      absent(typeof WebSocket === "undefined");
      const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
      // The server answers without an upgrade: it was reached all the same, and counts it.
      socket.onerror = () => reject(new Error("no upgrade"));
      socket.onopen = () => resolve("TOP SECRET");
    }),
  "a proxy's tunnel to a loopback address": ({ port }) => tunnel(`127.0.0.1:${port}`),
  "a proxy's tunnel to localhost": ({ port }) => tunnel(`localhost:${port}`),
  "a proxy's tunnel to an IPv4 address in IPv6": ({ port }) => tunnel(`[::ffff:7f00:1]:${port}`),
  "a proxy's tunnel with a name and password": ({ port }) => tunnel(`a.example@127.0.0.1:${port}`),
  "the proxy's socket by its path": async ({ port }) => {
    absent(process.env.HTTP_PROXY === undefined);
    return get({ socketPath: "/run/svc/egress", path: `http://127.0.0.1:${port}/` });
  },
  "a datagram": async ({ port }) => {
    // Deno throws its refusal outside of this function.
    absent(onDeno);
    const socket = dgram.createSocket("udp4");
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.send("datagram", port, "127.0.0.1", (error) => (error ? reject(error) : resolve()));
    });
    const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error("no answer")), 300));
    return String((await Promise.race([once(socket, "message"), late]))[0]);
  },
};

/** A proxy refuses by its response. */
async function succeed(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response;
}

const agent: Agent = subject(attempts);
export default agent;
