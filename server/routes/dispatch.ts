/** Routes a request to its handler: probe, object storage, webhook, REST or RPC. */
import type { Authenticator } from "../auth/authenticator.ts";
import type { KeyWatch } from "../auth/key-watch.ts";
import { fail, toPublicError } from "../errors.ts";
import type { OpenApiHandler } from "../openapi/index.ts";
import type { App } from "../services/app.ts";
import { registerServices, services } from "../services/index.ts";
import { defaultEnvironment, environmentHeader, traceHeader } from "../services/request.ts";
import { registerStandardServices } from "../services/standard/index.ts";
import { Readiness } from "../services/standard/readiness.ts";
import { validateRequests } from "../services/validation/interceptor.ts";
import { version } from "../version.ts";
import { logAccess } from "./access-log.ts";
import { type Request, type Response, sendError, sendJson } from "./answer.ts";
import { discardRest } from "./body-pace.ts";
import { isStartPage, redirectToConsole } from "./console/start-page.ts";
import { createCors } from "./cors.ts";
import { createHostCheck } from "./host.ts";
import { createLocalCalls, type Routes } from "./internal/local-calls.ts";
import { countRequest, type Measured } from "./measure.ts";
import { notAllowed, refuseMethod } from "./methods.ts";
import { type MetricsOptions, metricsPath, sendMetrics } from "./metrics.ts";
import { handleObject, isObjectPath } from "./objects.ts";
import { originForm } from "./origin-form.ts";
import { report } from "./report.ts";
import { requestIdHeader, requestIdOf } from "./request-id.ts";
import { RuleTable, rulesOf } from "./rest/http-rule.ts";
import { createTranscoder } from "./rest/transcode.ts";
import { deadlines } from "./rpc/deadline.ts";
import { hideStatus, publicErrors } from "./rpc/interceptors.ts";
import { createRpcHandler } from "./rpc/rpc.ts";
import { handleWebhook, isWebhook } from "./webhook/deliver.ts";
import { handleUnposted } from "./webhook/query.ts";
import { maxMessageBytes, wireOptions } from "./wire.ts";

export type Handler = (request: Request, response: Response) => void;

const environmentPath = /^\/env\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?=\/)/;
/** Methods of a webhook URL besides POST: senders check the URL with them, and some webhooks accept GET. */
const preflightMethods = new Set(["GET", "HEAD", "OPTIONS"]);
const rpcPath = /^\/[\w.]+\.v\d\w*\.\w+\/\w+$/;

/** Answers while the server starts: it listens, but has not opened its store yet. */
export const answerStarting: Handler = (request, response) => {
  if (request.url === "/livez") return sendJson(response, 200, { status: "ok" });
  sendError(response, fail("STARTING", "The server is starting.", { headers: { "retry-after": "1" } }));
};

export interface DispatchOptions {
  app: App;
  authenticator: Authenticator;
  keyWatch: KeyWatch;
  metrics: Pick<MetricsOptions, "collector" | "token">;
  /** False once the server is shutting down. */
  isReady(): boolean;
}

export function createDispatcher(options: DispatchOptions): Handler {
  const { app, authenticator, keyWatch, metrics, isReady } = options;
  const routes: Routes = (router) => registerServices(router, app);
  const { limits } = app.config;
  const wire = wireOptions(limits);
  const interceptors = [publicErrors(report), deadlines, keyWatch.interceptor(), validateRequests(services)];
  const calls = createLocalCalls(routes, interceptors);
  const senderOf = (request: Request) => app.senders.senderOf(request);
  const readiness = new Readiness(app);
  const rpc = createRpcHandler({
    routes(router) {
      routes(router);
      registerStandardServices(router, readiness, services);
    },
    router: {
      ...wire,
      interceptors: [hideStatus, ...interceptors],
      readMaxBytes: maxMessageBytes(limits),
      shutdownSignal: app.closing,
    },
    maxJsonBytes: limits.webhookBytes * 2,
    authenticator,
    senderOf,
    report,
  });
  const rules = new RuleTable(services.flatMap(rulesOf));
  const transcode = createTranscoder({ calls, authenticator, senderOf, limits, report });
  let openApi: Promise<OpenApiHandler> | null = null;
  const loadOpenApi = async (): Promise<OpenApiHandler> => {
    const { createOpenApiHandler } = await import("../openapi/index.ts");
    return createOpenApiHandler({ services, version, publicUrl: app.config.publicUrl });
  };
  const checkHost = createHostCheck(app.config);
  const cors = createCors(app.config.corsOrigins);
  const { access } = app.config.log;
  const { tracer } = app;

  async function handle(request: Request, response: Response, measured: Measured): Promise<void> {
    checkHost(request);
    checkTransferCoding(request);
    if (cors.handle(request, response)) return;
    const { environment, path, query, target } = read(request);
    const { span } = measured;
    const verb = request.method === "HEAD" ? "GET" : (request.method ?? "GET");
    const match = rules.match(verb, path);
    if (match !== null && "rule" in match && isWebhook(match)) {
      measured.handler = "webhook";
      const named = environment || defaultEnvironment;
      return handleWebhook({ app, request, response, match, environment: named, report, span });
    }
    discardRest(request, response);
    // The call is logged under the same id.
    if (access) request.headers[requestIdHeader] = requestIdOf(request);
    if (span !== null) request.headers[traceHeader] = span.context;
    if (match !== null && "allow" in match && preflightMethods.has(request.method ?? "")) {
      const posted = rules.match("POST", path);
      const named = environment || defaultEnvironment;
      if (posted !== null && "rule" in posted && isWebhook(posted)) {
        measured.handler = "webhook";
        const hook = { app, request, response, match: posted, environment: named, report, span };
        if (await handleUnposted(hook)) return;
        throw notAllowed(request, match.allow);
      }
    }
    if (match !== null && "rule" in match) {
      measured.handler = match.rule.method.name;
      await transcode(request, response, match, new URLSearchParams(query));
    } else if (match !== null) {
      refuseMethod(request, response, match.allow);
    } else if (rpc.has(path) || rpcPath.test(path) || isGrpc(request)) {
      request.url = target;
      if (rpc.has(path)) measured.handler = path.slice(path.lastIndexOf("/") + 1);
      await rpc.handle(request, response, path);
    } else if (path === "/livez" || path === "/readyz") {
      measured.handler = "probe";
      if (verb !== "GET") return refuseMethod(request, response, ["GET"]);
      if (path === "/livez") sendJson(response, 200, { status: "ok" });
      else {
        const ok = (await readiness.check()) && isReady();
        sendJson(response, ok ? 200 : 503, { status: ok ? "ok" : "unavailable" });
      }
    } else if (path === "/mcp") {
      measured.handler = "mcp";
      const { answerMcp } = await import("./mcp/index.ts");
      const options = { calls, authenticator, senderOf, config: app.config, report };
      await answerMcp(options, request, response, new URLSearchParams(query));
    } else if (path === metricsPath) {
      measured.handler = "metrics";
      if (verb !== "GET") return refuseMethod(request, response, ["GET"]);
      await sendMetrics({ ...metrics, access: { authenticator, engine: app.engine } }, request, response);
    } else if (path === "/console" || path.startsWith("/console/")) {
      measured.handler = "console";
      const { handleConsole } = await import("./console/index.ts");
      await handleConsole(
        { engine: app.engine, authenticator, rpc, config: app.config },
        request,
        response,
        path,
      );
    } else if (path === "/openapi.json") {
      measured.handler = "openapi";
      if (verb !== "GET") return refuseMethod(request, response, ["GET"]);
      openApi ??= loadOpenApi();
      const sendOpenApi = await openApi;
      if (request.headers.authorization === undefined) return sendOpenApi(request, response, null);
      const { readTargets } = await import("./openapi-targets.ts");
      const options = { calls, authenticator, senderOf, config: app.config };
      sendOpenApi(request, response, await readTargets(options, request));
    } else if (isObjectPath(path)) {
      measured.handler = "storage";
      await handleObject(app, request, response, path, new URLSearchParams(query));
    } else if (isStartPage(request, path)) {
      measured.handler = "console";
      redirectToConsole(request, response);
    } else {
      throw fail("PATH_UNKNOWN", "This path does not exist.");
    }
  }

  function failed(request: Request, response: Response, error: unknown): void {
    if (response.headersSent) return void response.destroy();
    const known = toPublicError(error, (cause) => report(cause, requestIdOf(request)));
    sendError(response, known);
  }

  return (request, response) => {
    if (access) logAccess(request, response, app.senders.addressOf(request));
    const startedMs = performance.now();
    const span = tracer === null ? null : tracer.request(request.headers);
    const measured = { handler: "unknown", span };
    // An error ends its own request only.
    handle(request, response, measured)
      .catch((error: unknown) => failed(request, response, error))
      .finally(() => countRequest(request, response, measured, startedMs));
  };
}

/** Whatever the path, a gRPC client understands only responses of gRPC. */
function isGrpc({ headers }: Request): boolean {
  return headers["content-type"]?.startsWith("application/grpc") === true;
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
  throw fail("UNSUPPORTED_MEDIA_TYPE", "The transfer coding must be 'chunked'.", {
    status: 501,
    headers: { connection: "close" },
  });
}
