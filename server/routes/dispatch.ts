/** Routes a request to its handler: probe, object storage, webhook, REST or RPC. */
import { Code, type ConnectRouter, createRouterTransport, type Interceptor } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { fail, notFound, toPublicError } from "../errors.ts";
import type { App } from "../services/app.ts";
import { checkParts } from "../services/health.ts";
import { registerServices, services } from "../services/index.ts";
import { defaultEnvironment, environmentHeader } from "../services/request.ts";
import { type Request, type Response, sendError, sendJson } from "./answer.ts";
import { RuleTable, rulesOf } from "./http-rule.ts";
import { hideStatus, publicErrors } from "./interceptors.ts";
import { handleObject, isObjectPath } from "./objects.ts";
import { createTranscoder } from "./transcode.ts";
import { handleWebhook, isWebhook } from "./webhook.ts";
import { wireOptions } from "./wire.ts";

export type Handler = (request: Request, response: Response) => void;

const environmentPath = /^\/env\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?=\/)/;
const rpcPath = /^\/svc\.v1\.\w+\/\w+$/;

/** Answers while the server starts: it listens, but has not opened its store yet. */
export const answerStarting: Handler = (request, response) => {
  if (request.url === "/livez") return sendJson(response, 200, { status: "ok" });
  sendError(response, fail(Code.Unavailable, "The server is starting.", { headers: { "retry-after": "1" } }));
};

export interface DispatchOptions {
  app: App;
  authenticate: Interceptor;
  /** False once the server is shutting down. */
  isReady(): boolean;
}

export function createDispatcher({ app, authenticate, isReady }: DispatchOptions): Handler {
  const report = (error: unknown) => console.error("Request failed:", error);
  const routes = (router: ConnectRouter) => registerServices(router, app);
  const { limits } = app.config;
  const wire = wireOptions(limits);
  const transport = createRouterTransport(routes, {
    transport: wire,
    router: { ...wire, interceptors: [publicErrors(report), authenticate] },
  });
  const rpc = connectNodeAdapter({
    ...wire,
    routes,
    interceptors: [hideStatus, publicErrors(report), authenticate],
    readMaxBytes: limits.webhookBytes * 2,
    shutdownSignal: app.closing,
  });
  const rules = new RuleTable(services.flatMap(rulesOf));
  const transcode = createTranscoder(transport, limits, report);

  async function handle(request: Request, response: Response): Promise<void> {
    const { environment, path, query, target } = read(request);
    const match = rules.match(request.method ?? "GET", path);
    if (match !== null && "rule" in match) {
      if (!isWebhook(match)) return transcode(request, response, match, new URLSearchParams(query));
      const named = environment || defaultEnvironment;
      return handleWebhook({ app, request, response, match, environment: named, report });
    }
    if (rpcPath.test(path)) {
      request.url = target;
      rpc(request, response);
    } else if (path === "/livez") {
      sendJson(response, 200, { status: "ok" });
    } else if (path === "/readyz") {
      await sendReadiness(app, response, isReady());
    } else if (isObjectPath(path)) {
      await handleObject(app, request, response, path, new URLSearchParams(query), report);
    } else if (match !== null) {
      sendError(response, notAllowed(request.method ?? "", match.allow));
    } else {
      sendError(response, notFound("This path does not exist."));
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
  const url = request.url ?? "/";
  delete request.headers[environmentHeader];
  const prefix = url.startsWith("/env/") ? environmentPath.exec(url) : null;
  const environment = prefix?.[1] ?? "";
  if (environment !== "") request.headers[environmentHeader] = environment;
  const target = prefix === null ? url : url.slice(prefix[0].length);
  const at = target.indexOf("?");
  if (at < 0) return { environment, path: target, query: "", target };
  return { environment, path: target.slice(0, at), query: target.slice(at + 1), target };
}

function notAllowed(method: string, allow: readonly string[]) {
  return fail(
    Code.Unimplemented,
    `The method ${method} is not allowed on this path; use ${allow.join(" or ")}.`,
    {
      status: 405,
      headers: { allow: allow.join(", ") },
    },
  );
}

async function sendReadiness(app: App, response: Response, ready: boolean): Promise<void> {
  const checks = await checkParts(app);
  const ok = ready && Object.values(checks).every((result) => result === "ok");
  sendJson(response, ok ? 200 : 503, { status: ok ? "ok" : "unavailable" });
}
