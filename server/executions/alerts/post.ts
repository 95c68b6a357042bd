/**
 * Sends a POST request to a URL that users chose. The connection goes to an address that was checked after the name was
 * resolved: a check before `fetch` would hold for another lookup than its own. Redirects are not followed, and of the
 * response only the status is read.
 */
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { RunnerNetwork } from "../../config/runner-network.ts";
import { version } from "../../version.ts";
import { AddressPolicy } from "../sandbox/addresses.ts";
import { NameLookup } from "../sandbox/name-lookup.ts";

const timeoutMs = 15_000;
const maxResponseBytes = 16 * 1024;

/** All addresses of the host are closed. */
export class AddressRefused extends Error {}

/** @returns the status of the response */
export type Post = (url: URL, body: string, headers: Readonly<Record<string, string>>) => Promise<number>;

/** @param network - opens addresses that are not public */
export function createPost(network: RunnerNetwork): Post {
  const policy = network === "all" ? null : new AddressPolicy(network);
  return async (url, body, headers) => {
    // Not `AbortSignal.timeout`, which cannot be cleared.
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), timeoutMs);
    try {
      return await send(url, body, headers, controller.signal);
    } finally {
      clearTimeout(timer);
    }
  };

  async function send(
    url: URL,
    body: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const found = isIP(host) === 0 ? await within(new NameLookup().resolve(host), signal) : [host];
    const addresses = found.filter((address) => policy?.isOpen(address) ?? true);
    if (addresses.length === 0) {
      throw new AddressRefused(
        "its address is not public; SVC_RUNNER_NETWORK of the server opens addresses.",
      );
    }
    let failure: unknown;
    for (const address of addresses) {
      try {
        const socket = await open(url, host, address, signal);
        return await exchange(socket, requestText(url, body, headers), signal);
      } catch (error) {
        failure = signal.aborted ? timedOut() : error;
        // After the request was sent, another address would get it a second time.
        if (signal.aborted || !(error instanceof NotConnected)) break;
      }
    }
    throw failure;
  }
}

class NotConnected extends Error {}

function requestText(url: URL, body: string, headers: Readonly<Record<string, string>>): string {
  const all = {
    host: url.host,
    "user-agent": `svc/${version}`,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${url.pathname}${url.search} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

function open(url: URL, host: string, address: string, signal: AbortSignal): Promise<Socket> {
  const isTls = url.protocol === "https:";
  const port = Number(url.port) || (isTls ? 443 : 80);
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket = isTls
    ? connectTls({ host: address, port, ...servername, ALPNProtocols: ["http/1.1"] })
    : connect({ host: address, port });
  return new Promise((resolve, reject) => {
    const abort = () => socket.destroy(timedOut());
    // Also for an error after the response, which nothing waits for.
    socket.on("error", () => {});
    signal.addEventListener("abort", abort, { once: true });
    socket.once(isTls ? "secureConnect" : "connect", () => resolve(socket));
    socket.once("error", (error) => {
      reject(new NotConnected(error.message));
      socket.destroy();
    });
    socket.once("close", () => {
      signal.removeEventListener("abort", abort);
      reject(new NotConnected("the connection was closed."));
    });
  });
}

function exchange(socket: Socket, request: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    let received = "";
    const end = (error: Error) => {
      reject(error);
      socket.destroy();
    };
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
      const status = statusOf(received);
      if (status !== null) {
        resolve(status);
        socket.destroy();
      } else if (received.length > maxResponseBytes)
        end(new Error("the headers of its response are too long."));
    });
    socket.once("error", end);
    socket.once("close", () => end(signal.aborted ? timedOut() : new Error("it closed the connection.")));
    socket.write(request);
  });
}

/** Null until the head of the final response is complete; 0 for bytes that are no response. */
function statusOf(received: string): number | null {
  if (received.length >= 5 && !received.startsWith("HTTP/")) return 0;
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(received)?.[1] ?? 0);
  // 100 Continue and 103 Early Hints precede the final response.
  return status >= 100 && status < 200 ? statusOf(received.slice(end + 4)) : status;
}

async function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => aborted.reject(timedOut()), { once: true });
  return Promise.race([promise, aborted.promise]);
}

function timedOut(): Error {
  return new Error(`it did not answer within ${timeoutMs / 1000} s.`);
}
