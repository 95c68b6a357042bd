import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request as httpRequest, type Server } from "node:http";
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server as TcpServer,
} from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseHostPattern } from "../../project/hosts.ts";
import { AddressPolicy, ownAddresses } from "../../server/executions/sandbox/addresses.ts";
import { type EgressProxy, startEgressProxy } from "../../server/executions/sandbox/egress-proxy.ts";

let folder: string;
let web: Server;
let echo: TcpServer;
const proxies: EgressProxy[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "egress-"));
  web = createServer((request, response) => {
    void text(request).then((body) =>
      response.end(JSON.stringify({ ...request.headers, url: request.url, body })),
    );
  });
  echo = createTcpServer((socket) => socket.pipe(socket));
  await Promise.all(
    [web, echo].map((server) => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))),
  );
});

afterAll(async () => {
  for (const proxy of proxies) proxy.close();
  web.close();
  echo.close();
  await rm(folder, { recursive: true, force: true });
});

const portOf = (server: TcpServer): number => (server.address() as AddressInfo).port;

async function proxyWith(opened: readonly string[], hosts: readonly string[] | null = null): Promise<string> {
  const socketPath = join(folder, `${proxies.length}`);
  const patterns = hosts?.map(parseHostPattern).filter((pattern) => pattern !== null) ?? null;
  proxies.push(await startEgressProxy(socketPath, { addresses: new AddressPolicy(opened), hosts: patterns }));
  return socketPath;
}

/** Sends a request to the proxy as an HTTP client does for an `http` URL. */
function forward(socketPath: string, url: string, body = ""): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      socketPath,
      path: url,
      method: "POST",
      headers: { "proxy-authorization": "x" },
    });
    request.on("error", reject);
    request.on("response", (response) => {
      text(response).then((content) => resolve({ status: response.statusCode ?? 0, text: content }), reject);
    });
    request.end(body);
  });
}

/** Opens a tunnel as an HTTP client does for an `https` URL, sends `data`, and returns all that comes back. */
function tunnel(socketPath: string, target: string, data: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    let received = "";
    socket.setEncoding("utf8");
    socket.on("error", reject);
    socket.on("data", (chunk: string) => {
      received += chunk;
      if (received.endsWith(data)) socket.end();
    });
    socket.on("close", () => resolve(received));
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n${data}`);
  });
}

describe("the egress proxy", () => {
  it("forwards a request to an open address without the proxy's own headers", async () => {
    const proxy = await proxyWith(["127.0.0.1"]);
    const { status, text: answer } = await forward(proxy, `http://127.0.0.1:${portOf(web)}/a?b=1`, "hello");
    expect(status).toBe(200);
    const seen = JSON.parse(answer) as Record<string, string>;
    expect(seen).toMatchObject({ url: "/a?b=1", body: "hello", host: `127.0.0.1:${portOf(web)}` });
    expect(seen["proxy-authorization"]).toBeUndefined();
  });

  it("tunnels bytes to an open address", async () => {
    const proxy = await proxyWith(["127.0.0.1"]);
    const received = await tunnel(proxy, `127.0.0.1:${portOf(echo)}`, "ping");
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
    expect(received.endsWith("\r\n\r\nping")).toBe(true);
  });

  it.each([
    "127.0.0.1",
    "localhost",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "169.254.169.254",
    "2130706433",
    "0x7f.1",
  ])("refuses %s before it connects", async (host) => {
    const proxy = await proxyWith([]);
    const { status, text: answer } = await forward(proxy, `http://${host}:${portOf(web)}/`);
    expect(status).toBe(403);
    expect(answer).toContain("are closed to agents and workflows");
    expect(await tunnel(proxy, `${host}:${portOf(echo)}`, "x")).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("refuses a host that the project does not list", async () => {
    const proxy = await proxyWith(["127.0.0.1"], ["api.github.com", `127.0.0.1:${portOf(echo)}`]);
    expect(await forward(proxy, `http://127.0.0.1:${portOf(web)}/`)).toMatchObject({ status: 403 });
    expect(await tunnel(proxy, `127.0.0.1:${portOf(echo)}`, "x")).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("refuses more than 256 connections of a runner, and accepts new ones when they have ended", async () => {
    const proxy = await proxyWith([]);
    const sockets = Array.from({ length: 300 }, () => connect(proxy).on("error", () => {}));
    let closed = 0;
    await new Promise<void>((resolve) => {
      for (const socket of sockets) socket.on("close", () => ++closed === 44 && resolve());
    });
    await Promise.all(
      sockets.map(
        (socket) => socket.closed || new Promise((resolve) => socket.on("close", resolve).destroy()),
      ),
    );
    await expect.poll(() => tunnel(proxy, "127.0.0.1:1", "x")).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("closes a connection whose headers are too large", async () => {
    const socket = connect(await proxyWith([]));
    socket.on("error", () => {}).resume();
    socket.write(`GET http://a.example/ HTTP/1.1\r\nX: ${"x".repeat(100_000)}`);
    await new Promise((resolve) => socket.on("close", resolve));
  });

  it("refuses every address of this machine", async () => {
    const proxy = await proxyWith([]);
    for (const address of ownAddresses()) {
      const target = address.includes(":") ? `[${address}]` : address;
      expect(await tunnel(proxy, `${target}:${portOf(web)}`, "x"), address).toMatch(/^HTTP\/1\.1 403 /);
    }
  });

  it("answers 502 when the destination cannot be reached", async () => {
    const proxy = await proxyWith(["127.0.0.1"]);
    expect(await forward(proxy, "http://127.0.0.1:1/")).toMatchObject({ status: 502 });
    expect(await tunnel(proxy, "127.0.0.1:1", "x")).toMatch(/^HTTP\/1\.1 502 /);
  });

  it.each(["/path", "https://a.example/", "ftp://a.example/", "http://"])(
    "refuses the target '%s'",
    async (target) => {
      const proxy = await proxyWith(["127.0.0.1"]);
      expect((await forward(proxy, target)).status).toBe(403);
    },
  );

  it.each(["", "a", "a:b", "a:99999", "@:1", "[:1"])("refuses the tunnel '%s'", async (target) => {
    const proxy = await proxyWith(["127.0.0.1"]);
    expect(await tunnel(proxy, target, "x")).toMatch(/^HTTP\/1\.1 (403|502|400) /);
  });
});
