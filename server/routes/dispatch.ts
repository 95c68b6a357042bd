/** Routes a request to its handler: probe, object storage, webhook, REST or RPC. */
import { Code, type ConnectRouter, createRouterTransport } from "@connectrpc/connect";
import type { Authenticator } from "../auth/authenticator.ts";
import type { KeyWatch } from "../auth/key-watch.ts";
import { fail, invalid, notFound, toPublicError } from "../errors.ts";
import type { App } from "../services/app.ts";
import { checkParts } from "../services/health.ts";
import { registerServices, services } from "../services/index.ts";
import { defaultEnvironment, environmentHeader } from "../services/request.ts";
import { type Request, type Response, sendError, sendJson } from "./answer.ts";
import { discardRest } from "./body-pace.ts";
import { createHostCheck } from "./host.ts";
import { RuleTable, rulesOf } from "./http-rule.ts";
import { hideStatus, publicErrors } from "./interceptors.ts";
import { handleObject, isObjectPath } from "./objects.ts";
import { originForm } from "./origin-form.ts";
import { createRpcHandler } from "./rpc.ts";
import { acceptCaller, createTranscoder } from "./transcode.ts";
import { handleWebhook, isWebhook } from "./webhook.ts";
import { handlePreflight } from "./webhook-handshake.ts";
import { wireOptions } from "./wire.ts";

export type Handler = (request: Request, response: Response) => void;

const environmentPath = /^\/env\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?=\/)/;
/** Methods with which senders check the URL of a webhook. */
const preflightMethods = new Set(["GET", "HEAD", "OPTIONS"]);
const rpcPath = /^\/[\w.]+\.v\d\w*\.\w+\/\w+$/;

/** Answers while the server starts: it listens, but has not opened its store yet. */
export const answerStarting: Handler = (request, response) => {
  if (request.url === "/livez") return sendJson(response, 200, { status: "ok" });
  sendError(response, fail(Code.Unavailable, "The server is starting.", { headers: { "retry-after": "1" } }));
};

export interface DispatchOptions {
  app: App;
  authenticator: Authenticator;
  keyWatch: KeyWatch;
  /** False once the server is shutting down. */
  isReady(): boolean;
}

export function createDispatcher({ app, authenticator, keyWatch, isReady }: DispatchOptions): Handler {
  const report = (error: unknown) => console.error("Request failed:", error);
  const routes = (router: ConnectRouter) => registerServices(router, app);
  const { limits } = app.config;
  const wire = wireOptions(limits);
  const interceptors = [publicErrors(report), keyWatch.interceptor()];
  const transport = createRouterTransport(routes, {
    transport: wire,
    router: { ...wire, interceptors, requestGate: acceptCaller },
  });
  const rpc = createRpcHandler({
    routes,
    router: {
      ...wire,
      interceptors: [hideStatus, ...interceptors],
      readMaxBytes: limits.webhookBytes * 2,
      shutdownSignal: app.closing,
    },
    authenticator,
    report,
  });
  const rules = new RuleTable(services.flatMap(rulesOf));
  const transcode = createTranscoder(transport, authenticator, limits, report);
  const checkReadiness = createReadiness(app);
  const checkHost = createHostCheck(app.config);

  async function handle(request: Request, response: Response): Promise<void> {
    checkHost(request);
    checkTransferCoding(request);
    const { environment, path, query, target } = read(request);
    const verb = request.method === "HEAD" ? "GET" : (request.method ?? "GET");
    const match = rules.match(verb, path);
    if (match !== null && "rule" in match && isWebhook(match)) {
      const named = environment || defaultEnvironment;
      return handleWebhook({ app, request, response, match, environment: named, report });
    }
    discardRest(request, response);
    if (match !== null && "allow" in match && preflightMethods.has(request.method ?? "")) {
      const posted = rules.match("POST", path);
      const named = environment || defaultEnvironment;
      if (posted !== null && "rule" in posted && isWebhook(posted)) {
        if (await handlePreflight({ app, request, response }, posted, named)) return;
      }
    }
    if (match !== null && "rule" in match) {
      await transcode(request, response, match, new URLSearchParams(query));
    } else if (match !== null) {
      throw notAllowed(request.method, withHead(match.allow));
    } else if (rpc.has(path) || rpcPath.test(path)) {
      request.url = target;
      await rpc.handle(request, response, path);
    } else if (path === "/livez" || path === "/readyz") {
      if (verb !== "GET") throw notAllowed(request.method, ["GET", "HEAD"]);
      if (path === "/livez") sendJson(response, 200, { status: "ok" });
      else {
        const ok = (await checkReadiness()) && isReady();
        sendJson(response, ok ? 200 : 503, { status: ok ? "ok" : "unavailable" });
      }
    } else if (isObjectPath(path)) {
      await handleObject(app, request, response, path, new URLSearchParams(query), report);
    } else {
      throw notFound("This path does not exist.");
    }
  }

  return (request, response) => {
    // An error ends its own request only.
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendError(response, toPublicError(error, report));
    });
  };
}

interface Target {
  /** From the prefix `/env/<environment>`; empty without the prefix. */
  environment: string;
  path: string;
  query: string;
  /** Path and query without the prefix. */
  target: string;
}

/** Moves the environment from the URL to an internal header; a header of that name in the request is dropped. */
function read(request: Request): Target {
  const url = originForm(request.url ?? "/");
  delete request.headers[environmentHeader];
  const prefix = url.startsWith("/env/") ? environmentPath.exec(url) : null;
  const environment = prefix?.[1] ?? "";
  if (environment !== "") request.headers[environmentHeader] = environment;
  const target = prefix === null ? url : url.slice(prefix[0].length);
  const at = target.indexOf("?");
  if (at < 0) return { environment, path: target, query: "", target };
  return { environment, path: target.slice(0, at), query: target.slice(at + 1), target };
}

/** Parsers differ in how they read other transfer codings, so that a proxy could see another request. */
function checkTransferCoding({ headers }: Request): void {
  const coding = headers["transfer-encoding"];
  if (coding === undefined || coding.toLowerCase() === "chunked") return;
  throw invalid("The transfer coding must be 'chunked'.", {
    status: 501,
    headers: { connection: "close" },
  });
}

function withHead(allow: readonly string[]): string[] {
  return allow.includes("GET") ? [...allow, "HEAD"].sort() : [...allow];
}

function notAllowed(method: string | undefined, allow: readonly string[]) {
  return fail(
    Code.Unimplemented,
    `The method ${method} is not allowed on this path; use ${allow.join(" or ")}.`,
    {
      status: 405,
      headers: { allow: allow.join(", ") },
    },
  );
}

/** The checks read the store and write a file, and need no key: requests that arrive during one share its result. */
function createReadiness(app: App): () => Promise<boolean> {
  let running: Promise<boolean> | null = null;
  return () => {
    running ??= checkParts(app)
      .then((checks) => Object.values(checks).every((check) => check === "ok"))
      .finally(() => {
        running = null;
      });
    return running;
  };
}
