/**
 * `/console`: the files of the web console, the session of its user, and the API for its scripts. The cookie counts at
 * `/console/api` alone, so that no other path can be used through a browser that is signed in.
 */
import type { Authenticator } from "../../auth/authenticator.ts";
import { ConsoleSessions } from "../../auth/console-sessions.ts";
import type { Config } from "../../config.ts";
import { fail } from "../../errors.ts";
import type { Engine } from "../../store/engine.ts";
import { getOrganization } from "../../store/tables/organizations.ts";
import { version } from "../../version.ts";
import { readBody } from "../../webhooks/body.ts";
import { parseJsonObject } from "../../webhooks/json.ts";
import { type Request, type Response, sendJson } from "../answer.ts";
import { bodyError, jsonError } from "../body-error.ts";
import { refuseMethod } from "../methods.ts";
import type { RpcHandler } from "../rpc/rpc.ts";
import { assetNamed } from "./assets.ts";
import { sessionCookie, setSessionCookie } from "./cookie.ts";
import { checkSameOrigin } from "./same-origin.ts";

export const consolePath = "/console";

/** Only files of the console itself: no inline scripts, no frames, no other hosts. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const securityHeaders = {
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export interface ConsoleOptions {
  engine: Engine;
  authenticator: Authenticator;
  rpc: RpcHandler;
  config: Pick<Config, "tls" | "publicUrl">;
}

/** @param path - begins with `/console`, without the query */
export async function handleConsole(
  options: ConsoleOptions,
  request: Request,
  response: Response,
  path: string,
): Promise<void> {
  if (path === consolePath) {
    if (request.method !== "GET" && request.method !== "HEAD")
      return refuseMethod(request, response, ["GET"]);
    // Relative, because a proxy may put a path before it.
    const last = (request.url ?? "").split("?", 1)[0]?.split("/").at(-1) ?? "console";
    response.writeHead(308, { location: `${last}/` }).end();
    return;
  }
  const name = path.slice(consolePath.length + 1);
  if (name === "session") return await handleSession(options, request, response);
  if (name.startsWith("api/")) return await handleApi(options, request, response, path);
  const asset = await assetNamed(name);
  if (asset === undefined) throw fail("PATH_UNKNOWN", "This path does not exist.");
  if (request.method !== "GET" && request.method !== "HEAD") return refuseMethod(request, response, ["GET"]);
  const headers = { ...securityHeaders, etag: asset.etag, "cache-control": "no-cache" };
  if (request.headers["if-none-match"] === asset.etag) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, {
    ...headers,
    "content-type": asset.type,
    "content-length": asset.body.byteLength,
  });
  response.end(request.method === "HEAD" ? undefined : asset.body);
}

const bodyTimeoutMs = 10_000;
const maxBodyBytes = 4096;

/** GET describes the session, POST opens one with an API key, DELETE ends it. */
async function handleSession(options: ConsoleOptions, request: Request, response: Response): Promise<void> {
  const { authenticator, config, engine } = options;
  const sessions = new ConsoleSessions(engine);
  const cookie = sessionCookie(request);
  if (request.method === "GET") {
    const session = cookie === null ? null : await sessions.find(cookie);
    if (session === null) throw signedOut();
    const { orgId, keyName, scope } = session.owner;
    const organization = await engine.read(() => getOrganization(orgId));
    return sendJson(
      response,
      200,
      {
        organization: organization?.name ?? "",
        ...{ key_name: keyName, scope, version },
        expires_at: new Date(session.expiresAt).toISOString(),
      },
      { "cache-control": "no-store" },
    );
  }
  if (request.method !== "POST" && request.method !== "DELETE") {
    return refuseMethod(request, response, ["GET", "POST", "DELETE"]);
  }
  checkSameOrigin(request, config);
  if (request.method === "DELETE") {
    if (cookie !== null) await sessions.close(cookie);
    response.writeHead(204, { "set-cookie": setSessionCookie("", 0, config) }).end();
    return;
  }
  const caller = await authenticator.authenticate(`Bearer ${await readKey(request)}`);
  const { token, expiresAt } = await sessions.open(caller);
  const value = setSessionCookie(token, expiresAt - Date.now(), config);
  response.writeHead(204, { "set-cookie": value, "cache-control": "no-store" }).end();
}

async function readKey(request: Request): Promise<string> {
  const body = await readBody(request, { maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs });
  if (!body.ok) throw bodyError(body.code, body.message);
  const parsed = parseJsonObject(body.body, { depth: 2 });
  if (!parsed.ok) throw jsonError(parsed.code, parsed.message);
  const { key } = parsed.value;
  return typeof key === "string" && /^\S+$/.test(key.trim()) ? key.trim() : "-";
}

/** A call of a method by the console: Connect over POST, with the session in place of an API key. */
async function handleApi(
  { engine, config, rpc }: ConsoleOptions,
  request: Request,
  response: Response,
  path: string,
): Promise<void> {
  if (request.method !== "POST") return refuseMethod(request, response, ["POST"]);
  checkSameOrigin(request, config);
  const sessions = new ConsoleSessions(engine);
  const cookie = sessionCookie(request);
  const session = cookie === null ? null : await sessions.find(cookie);
  if (cookie === null || session === null) throw signedOut();
  // A stream must not outlive its session.
  const left = Math.min(session.expiresAt - Date.now(), 2 ** 31 - 1);
  const timer = setTimeout(() => response.destroy(), left);
  const unwatch = sessions.watch(cookie, () => response.destroy());
  response.on("close", () => {
    clearTimeout(timer);
    unwatch();
  });
  const method = path.slice(`${consolePath}/api`.length);
  request.url = method;
  await rpc.handle(request, response, method, session.owner);
}

function signedOut() {
  return fail("SESSION_INVALID", "The session of the console has ended: sign in again.");
}
