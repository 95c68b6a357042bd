/** Which handler a request goes to: probes, objects, webhooks, REST, RPC. */
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
import { createTranscoder, jsonWriteOptions } from "./transcode.ts";
import { handleWebhook, isWebhook } from "./webhook.ts";

export type Handler = (request: Request, response: Response) => void;

const environmentPath = /^\/env\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?=\/)/;
const rpcPath = /^\/(svc\.v1\.\w+)\/\w+$/;

export interface DispatchOptions {
  app: App;
  authenticate: Interceptor;
  /** Whether the server takes work yet, and still. */
  isReady(): boolean;
}

export function createDispatcher({ app, authenticate, isReady }: DispatchOptions): Handler {
  const report = (error: unknown) => console.error("A request failed:", error);
  const routes = (router: ConnectRouter) => registerServices(router, app);
  const jsonOptions = { ...jsonWriteOptions, ignoreUnknownFields: false };
  const readMaxBytes = app.config.limits.webhookBytes * 2;
  const transport = createRouterTransport(routes, {
    router: { interceptors: [publicErrors(report), authenticate], jsonOptions },
  });
  const rpc = connectNodeAdapter({
    routes,
    interceptors: [hideStatus, publicErrors(report), authenticate],
    jsonOptions,
    readMaxBytes,
    shutdownSignal: app.closing,
  });
  const rules = new RuleTable(services.flatMap(rulesOf));
  const transcode = createTranscoder(transport, app.config.limits, report);

  return (request, response) => {
    const url = request.url ?? "/";
    delete request.headers[environmentHeader];
    let environment = "";
    let target = url;
    const prefix = url.startsWith("/env/") ? environmentPath.exec(url) : null;
    if (prefix !== null) {
      environment = prefix[1] ?? "";
      target = url.slice(prefix[0].length);
      request.headers[environmentHeader] = environment;
    }
    const at = target.indexOf("?");
    const path = at < 0 ? target : target.slice(0, at);
    const match = rules.match(request.method ?? "GET", path);
    if (match !== null && "rule" in match) {
      if (isWebhook(match)) {
        void handleWebhook({
          app,
          request,
          response,
          match,
          environment: environment || defaultEnvironment,
          report,
        });
      } else {
        void transcode(request, response, match, new URLSearchParams(at < 0 ? "" : target.slice(at + 1)));
      }
      return;
    }
    if (rpcPath.test(path)) {
      request.url = target;
      rpc(request, response);
    } else if (path === "/livez") {
      sendJson(response, 200, { status: "ok" });
    } else if (path === "/readyz") {
      void sendReadiness(app, response, isReady());
    } else if (isObjectPath(path)) {
      void handleObject(
        app,
        request,
        response,
        path,
        new URLSearchParams(at < 0 ? "" : target.slice(at + 1)),
        report,
      );
    } else if (match !== null) {
      const error = fail(
        Code.Unimplemented,
        `${request.method} is not allowed here; use ${match.allow.join(" or ")}.`,
        {
          status: 405,
          headers: { allow: match.allow.join(", ") },
        },
      );
      sendError(response, error);
    } else {
      sendError(response, notFound("There is nothing at this path."));
    }
  };
}

async function sendReadiness(app: App, response: Response, ready: boolean): Promise<void> {
  try {
    const checks = await checkParts(app);
    const ok = ready && Object.values(checks).every((result) => result === "ok");
    sendJson(response, ok ? 200 : 503, { status: ok ? "ok" : "unavailable" });
  } catch (error) {
    sendError(response, toPublicError(error, console.error));
  }
}
