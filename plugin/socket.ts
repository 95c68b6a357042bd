import type { Agent, AgentOptions, ClientRequest, IncomingMessage } from "node:http";
import type { RequestOptions } from "node:https";
import type { LookupFunction } from "node:net";
import { builtin } from "./builtin.ts";
import type { EgressGuard } from "./egress.ts";
import { invalidArgument } from "./error.ts";
import { isUnsafe } from "./method.ts";
import { toResponse } from "./socket-response.ts";
import { StreamBody, type Transport, type TransportRequest } from "./transport.ts";

/** A transport over `node:http` and `node:https`, and what closes its idle connections. */
export interface SocketTransport {
  send: Transport;
  close(): void;
}

/** Options of `fetch` that would have to be ignored here, though the caller counts on them. */
const fetchOnly = ["dispatcher", "agent", "client", "proxy", "tls", "unix", "integrity"];

/** An agent with its options, which `@types/node` leaves out. */
type ConfiguredAgent = Agent & { options?: AgentOptions };

/** A kept connection that the server closed just when it was used again. */
class StaleConnection extends Error {}

/**
 * A transport that opens its own connections.
 *
 * @param guard - checks the address of every connection; null for none
 */
export function createSocketTransport(guard: EgressGuard | null): SocketTransport {
  const agents = new Map<string, Agent>();

  /** Agents of the plugin's own: every connection they keep was checked, and under the guard no proxy comes between. */
  function agentFor(url: URL, keepAlive: boolean): Agent {
    const key = `${url.protocol} ${keepAlive}`;
    let agent = agents.get(key);
    if (!agent) {
      const module = moduleFor(url);
      const proxyEnv = guard ? {} : (module.globalAgent as ConfiguredAgent).options?.proxyEnv;
      agent = new module.Agent({ keepAlive, ...(proxyEnv && { proxyEnv }) });
      agents.set(key, agent);
    }
    return agent;
  }

  async function send(address: string, request: TransportRequest): Promise<Response> {
    for (const name of fetchOnly) {
      if (name in request) {
        throw invalidArgument(
          `Cannot use the option ${name} here: uploads and requests under the egress guard open their own connections`,
        );
      }
    }
    const url = new URL(address);
    guard?.checkUrl(url);
    const connect = (keepAlive: boolean): Promise<Response> => {
      const connection = { agent: agentFor(url, keepAlive), ...(guard && { lookup: lookupFor(guard, url) }) };
      return exchange(url, request, connection);
    };
    // Only what may be repeated runs on a kept connection, because the server may be closing it at that moment.
    if (isUnsafe(request.method)) return await connect(false);
    try {
      return await connect(true);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      return await connect(false);
    }
  }

  return {
    send,
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

function moduleFor(url: URL): typeof import("node:http") | typeof import("node:https") {
  return url.protocol === "https:"
    ? builtin("node:https", "open a connection")
    : builtin("node:http", "open a connection");
}

/** What `node:net` asks for the addresses of a name; it connects to nothing else. */
function lookupFor(guard: EgressGuard, url: URL): LookupFunction {
  return (hostname, options, callback) => {
    const { family: wanted = 0, all } = options;
    guard.resolve(url, hostname).then(
      (addresses) => {
        const found = addresses
          .map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
          .filter(({ family }) => (wanted !== 4 && wanted !== 6) || family === wanted);
        const [first] = found;
        if (!first)
          callback(Object.assign(new Error(`${hostname} has no address`), { code: "ENOTFOUND" }), "");
        else if (all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ""),
    );
  };
}

function exchange(url: URL, request: TransportRequest, connection: RequestOptions): Promise<Response> {
  const { signal, body } = request;
  if (signal.aborted) throw signal.reason;
  const headers = Object.fromEntries(request.headers);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : null;
  const stream = body instanceof StreamBody ? body : null;
  const length = bytes?.length ?? stream?.sizeBytes ?? null;
  headers["user-agent"] ??= "svc-plugin";
  headers["accept-encoding"] ??= "gzip, br";
  if (length !== null) headers["content-length"] = String(length);
  const outgoing = moduleFor(url).request(url, { ...connection, method: request.method, headers });
  return new Promise<Response>((resolve, reject) => {
    const onAbort = (): void => void outgoing.destroy(signal.reason);
    signal.addEventListener("abort", onAbort);
    outgoing.once("close", () => signal.removeEventListener("abort", onAbort));
    outgoing.once("response", (incoming: IncomingMessage) => {
      // A server that refuses a body may answer before it has read it; nobody waits for the rest.
      incoming.once("end", () => void (outgoing.writableFinished || outgoing.destroy()));
      try {
        resolve(toResponse(incoming, signal));
      } catch (error) {
        outgoing.destroy();
        reject(error);
      }
    });
    // Not once: the connection may break again when the answer is there and the body is not yet sent.
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      const stale = outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(stale ? new StaleConnection(error.message, { cause: error }) : error);
    });
    if (!stream) return void outgoing.end(bytes ?? undefined);
    writeStream(outgoing, stream).catch((error: Error) => {
      // First of all: the broken connection that follows is not the cause.
      reject(error);
      outgoing.destroy(error);
    });
  });
}

/**
 * Sends a body piece by piece, each when the one before has left this process, so that the body may use the same memory
 * for all of them; to the end, or until the exchange is over.
 */
async function writeStream(outgoing: ClientRequest, body: StreamBody): Promise<void> {
  let interrupt: (reason: Error) => void = () => {};
  outgoing.once("close", () => interrupt(new Error("the connection closed before the body was sent")));
  for await (const piece of body.open()) {
    await new Promise<void>((resolve, reject) => {
      interrupt = reject;
      if (outgoing.destroyed) reject(new Error("the connection closed before the body was sent"));
      else outgoing.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  }
  outgoing.end();
}
