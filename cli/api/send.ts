/**
 * Sends one HTTP request. On Bun and Deno with `fetch`, on Node with `node:http`: Node loads `fetch` and `Headers` only
 * when they are used, which takes longer than the start of Node itself. The module comes from `getBuiltinModule`, because
 * an import would read all its exports, and its `WebSocket` loads the same code.
 */
import type { ClientRequest, IncomingMessage } from "node:http";

export interface HttpRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  signal: AbortSignal;
}

export interface HttpResponse {
  status: number;
  /** Names are lower-case. */
  headers: Readonly<Record<string, string>>;
  /** Decompressed. */
  body: AsyncIterable<Uint8Array>;
  /** Ends the connection. */
  discard(): void;
}

/** POSTs a body. Follows no redirect, which could send the API key to another host. */
export const post: (request: HttpRequest) => Promise<HttpResponse> =
  process.versions.bun === undefined && process.versions.deno === undefined ? postWithHttp : postWithFetch;

/** `fetch` of Node ends a connection after the same time without data. */
const idleMs = 300_000;

async function postWithHttp({ url, headers, body, signal }: HttpRequest): Promise<HttpResponse> {
  const isSecure = url.startsWith("https:");
  const { request } = process.getBuiltinModule(isSecure ? "node:https" : "node:http");
  const sent = request(url, {
    method: "POST",
    headers: { ...headers, "content-length": body.length, "accept-encoding": "gzip" },
    signal,
  });
  sent.setTimeout(idleMs, () => sent.destroy(new Error("The connection was idle for 300 s.")));
  sent.end(body);
  const response = await responseOf(sent);
  const encoding = response.headers["content-encoding"];
  return {
    status: response.statusCode ?? 0,
    headers: response.headers as Record<string, string>,
    body: encoding === "gzip" ? await decompressed(response) : response,
    discard: () => response.destroy(),
  };
}

function responseOf(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once("response", resolve);
    // Also after the response, whose body then reports the error.
    sent.on("error", reject);
  });
}

async function decompressed(response: IncomingMessage): Promise<AsyncIterable<Uint8Array>> {
  const { createGunzip } = await import("node:zlib");
  const gunzip = createGunzip();
  response.once("error", (error) => gunzip.destroy(error));
  return response.pipe(gunzip);
}

async function postWithFetch({ url, headers, body, signal }: HttpRequest): Promise<HttpResponse> {
  const response = await fetch(url, {
    method: "POST",
    headers,
    body: body as Uint8Array<ArrayBuffer>,
    redirect: "manual",
    signal,
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: response.body ?? (async function* () {})(),
    discard: () => void response.body?.cancel().catch(() => {}),
  };
}
