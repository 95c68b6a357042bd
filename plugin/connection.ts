import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { builtin } from "./builtin.ts";
import type { EgressGuard } from "./egress.ts";
import { invalidArgument } from "./error.ts";
import { type Fetch, type FetchRequest, StreamBody } from "./fetch.ts";
import { fetchOnlyOptions } from "./options.ts";
import { isUnsafe } from "./retry.ts";

/** A kept connection that the server closed at the moment when it was used again. */
class StaleConnectionError extends Error {}

/**
 * Sends requests over connections of `node:http`, for which `fetch` is not sufficient: guarded requests, which must
 * connect to a checked address, and uploads (for 1 GiB, `fetch` of Node grows by 1 GiB and `fetch` of Deno sends no
 * length).
 */
export class ConnectionPool {
  readonly #guard: EgressGuard | null;
  readonly #agents = new Map<string, Agent>();

  /** @param guard - checks the address of every connection; null for none */
  constructor(guard: EgressGuard | null) {
    this.#guard = guard;
  }

  readonly fetch: Fetch = async (address, request) => {
    const unsupported = fetchOnlyOptions.find((name) => name in request);
    if (unsupported) {
      throw invalidArgument(
        `Cannot use the option ${unsupported} here: uploads and guarded requests open their own connections`,
      );
    }
    const url = new URL(address);
    this.#guard?.checkUrl(url);
    // A server may close a kept connection at any moment, so only a request that may be repeated uses one.
    if (isUnsafe(request.method)) return await this.#exchange(url, request, false);
    try {
      return await this.#exchange(url, request, true);
    } catch (error) {
      if (!(error instanceof StaleConnectionError)) throw error;
      return await this.#exchange(url, request, false);
    }
  };

  /** Closes idle connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  #exchange(url: URL, request: FetchRequest, keepAlive: boolean): Promise<Response> {
    const { signal, body } = request;
    signal.throwIfAborted();
    const headers = Object.fromEntries(request.headers);
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : null;
    const stream = body instanceof StreamBody ? body : null;
    const length = bytes?.length ?? stream?.sizeBytes ?? null;
    headers["user-agent"] ??= "svc-plugin";
    headers["accept-encoding"] ??= "gzip, br";
    if (length !== null) headers["content-length"] = String(length);
    const outgoing = moduleFor(url).request(url, {
      agent: this.#agentFor(url, keepAlive),
      method: request.method,
      headers,
      ...(this.#guard && { lookup: checkedLookup(this.#guard, url) }),
    });
    return new Promise<Response>((resolve, reject) => {
      const onAbort = (): void => void outgoing.destroy(signal.reason);
      signal.addEventListener("abort", onAbort);
      outgoing.once("close", () => signal.removeEventListener("abort", onAbort));
      outgoing.once("response", (incoming: IncomingMessage) => {
        // A server that rejects a body may respond before it has read all of it.
        incoming.once("end", () => void (outgoing.writableFinished || outgoing.destroy()));
        try {
          resolve(toResponse(incoming));
        } catch (error) {
          outgoing.destroy();
          reject(error);
        }
      });
      // Not `once`: the connection may break again after the response, while the body is being sent.
      outgoing.on("error", (error: NodeJS.ErrnoException) => {
        const stale = outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
        reject(stale ? new StaleConnectionError(error.message, { cause: error }) : error);
      });
      if (!stream) return void outgoing.end(bytes ?? undefined);
      writeStream(outgoing, stream).catch((error: Error) => {
        // Reject first, because destroying the request emits an error that hides the cause.
        reject(error);
        outgoing.destroy(error);
      });
    });
  }

  /** Guarded connections use agents of the plugin, whose connections are checked and bypass proxies. */
  #agentFor(url: URL, keepAlive: boolean): Agent {
    const module = moduleFor(url);
    if (this.#guard) {
      const agent = this.#agents.get(url.protocol);
      if (agent && keepAlive) return agent;
      // Without `proxyEnv`, Deno uses the proxy of the environment.
      const created = new module.Agent({ keepAlive, proxyEnv: {} });
      if (keepAlive) this.#agents.set(url.protocol, created);
      return created;
    }
    // The options of the global agent of Node include the proxy of the environment.
    return new module.Agent({ ...Reflect.get(module.globalAgent, "options"), keepAlive: false });
  }
}

function moduleFor(url: URL): typeof import("node:http") | typeof import("node:https") {
  return url.protocol === "https:"
    ? builtin("node:https", "open a connection")
    : builtin("node:http", "open a connection");
}

/** The resolver of a guarded connection, which connects only to the addresses that it returns. */
function checkedLookup(guard: EgressGuard, url: URL): LookupFunction {
  return (hostname, { family: wanted = 0, all }, callback) => {
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

/** Writes each chunk after the previous one has left the process, to keep memory bounded on all runtimes. */
async function writeStream(outgoing: ClientRequest, body: StreamBody): Promise<void> {
  let interrupt: (reason: Error) => void = () => {};
  outgoing.once("close", () => interrupt(new Error("the connection closed before the body was sent")));
  for await (const chunk of body.open()) {
    await new Promise<void>((resolve, reject) => {
      interrupt = reject;
      if (outgoing.destroyed) reject(new Error("the connection closed before the body was sent"));
      else outgoing.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
  }
  outgoing.end();
}

/** Converts a response of `node:http` to the Response that `fetch` returns, with a decompressed body. */
function toResponse(incoming: IncomingMessage): Response {
  const headers = new Headers();
  for (let index = 0; index + 1 < incoming.rawHeaders.length; index += 2) {
    headers.append(incoming.rawHeaders[index] ?? "", incoming.rawHeaders[index + 1] ?? "");
  }
  const status = incoming.statusCode ?? 0;
  if (status < 200 || status > 599) throw new Error(`the server responded with the status ${status}`);
  const init = { status, statusText: incoming.statusMessage ?? "", headers };
  if (status === 204 || status === 205 || status === 304) {
    incoming.resume();
    return new Response(null, init);
  }
  const { Readable } = builtin("node:stream", "read a response");
  return new Response(Readable.toWeb(decompress(incoming, headers)) as ReadableStream<Uint8Array>, init);
}

/** Decompresses a body and removes the headers that describe its compressed form. */
function decompress(incoming: IncomingMessage, headers: Headers): Readable {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return incoming;
  const { createGunzip, createBrotliDecompress } = builtin("node:zlib", "decompress a response");
  const create = { gzip: createGunzip, "x-gzip": createGunzip, br: createBrotliDecompress }[encoding];
  if (!create) throw new Error(`the server used the content encoding ${encoding}, which was not accepted`);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return builtin("node:stream", "decompress a response").pipeline(incoming, create(), () => {});
}
