/**
 * The only way out of a runner in a network namespace of its own: an HTTP proxy on a Unix socket that is mounted into the
 * runner's sandbox. It resolves each name itself, connects to the address that it checked, and so cannot be misled by a
 * name that resolves differently the second time.
 */
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type HostPattern, isAllowedHost } from "../../../project/hosts.ts";
import type { AddressPolicy } from "./addresses.ts";
import { NameLookup } from "./name-lookup.ts";

export interface EgressPolicy {
  addresses: AddressPolicy;
  /** Null allows every host. */
  hosts: readonly HostPattern[] | null;
}

export interface EgressProxy {
  close(): void;
}

/** Connections of one runner at a time. */
const maxConnections = 256;
const connectTimeoutMs = 30_000;
const idleTimeoutMs = 300_000;
const maxHeaderBytes = 16 * 1024;
/** For the headers of one request. */
const headersTimeoutMs = 15_000;

/** Headers that concern the connection to the proxy and not the request (RFC 9110, 7.6.1). */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Why a destination is refused: the message of the proxy's 403 response. */
class RefusedError extends Error {}

/** @returns the proxy, once it listens on `socketPath` */
export function startEgressProxy(socketPath: string, policy: EgressPolicy): Promise<EgressProxy> {
  const names = new NameLookup();
  const limits = {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    // An upload may take long. `timeout` ends one that stalls.
    requestTimeout: 0,
    connectionsCheckingInterval: 5_000,
  };
  const server = createServer(limits, (request, response) => {
    void forward(policy, names, request, response);
  });
  server.maxConnections = maxConnections;
  server.timeout = idleTimeoutMs;
  server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
    void tunnel(policy, names, request, client, head);
  });
  server.on("clientError", (_, socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, () => resolve({ close: () => closeNow(server) }));
  });
}

function closeNow(server: Server): void {
  server.close();
  server.closeAllConnections();
}

async function tunnel(
  policy: EgressPolicy,
  names: NameLookup,
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
): Promise<void> {
  client.on("error", () => client.destroy());
  try {
    const url = new URL(`http://${request.url}`);
    const upstream = await open(policy, names, url.hostname, Number(url.port || 80));
    upstream.on("error", () => client.destroy());
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) upstream.write(head);
    upstream.pipe(client);
    client.pipe(upstream);
  } catch (error) {
    const { status, message } = describe(error);
    const body = `${message}\n`;
    client.end(
      `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
}

async function forward(
  policy: EgressPolicy,
  names: NameLookup,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const url = URL.canParse(request.url ?? "") ? new URL(request.url ?? "") : null;
    if (url?.protocol !== "http:")
      throw new RefusedError("Cannot forward the request: its target must be an absolute http URL.");
    const socket = await open(policy, names, url.hostname, Number(url.port || 80));
    const upstream = httpRequest({
      createConnection: () => socket,
      method: request.method,
      path: url.pathname + url.search,
      headers: { ...endToEnd(request.headers), host: url.host },
      setHost: false,
    });
    upstream.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    upstream.on("error", (error) => fail(response, error));
    response.on("close", () => upstream.destroy());
    request.pipe(upstream);
  } catch (error) {
    fail(response, error);
  }
}

function endToEnd<Value>(headers: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)));
}

/** @throws RefusedError when the policy forbids the destination */
async function open(
  policy: EgressPolicy,
  names: NameLookup,
  hostname: string,
  port: number,
): Promise<Socket> {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (policy.hosts !== null && !isAllowedHost(policy.hosts, host, port)) {
    throw new RefusedError(
      `Cannot connect to ${host}:${port}: the project's 'network' key does not list it.`,
    );
  }
  const found = isIP(host) === 0 ? await names.resolve(host) : [host];
  const address = found.find((candidate) => policy.addresses.isOpen(candidate));
  if (address === undefined) {
    throw new RefusedError(
      `Cannot connect to ${host}:${port}: loopback, link-local, private and reserved addresses are closed to agents and workflows.`,
    );
  }
  return await new Promise<Socket>((resolve, reject) => {
    const socket = connect({ host: address, port });
    socket.setTimeout(connectTimeoutMs, () => socket.destroy(new Error("The connection timed out.")));
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.removeListener("error", reject);
      socket.setTimeout(idleTimeoutMs);
      resolve(socket);
    });
  });
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, message } = describe(error);
  response.writeHead(Number.parseInt(status, 10), { "content-type": "text/plain" });
  response.end(`${message}\n`);
}

function describe(error: unknown): { status: string; message: string } {
  if (error instanceof RefusedError) return { status: "403 Forbidden", message: error.message };
  const reason = error instanceof Error ? error.message : String(error);
  return { status: "502 Bad Gateway", message: `Cannot connect: ${reason}` };
}
