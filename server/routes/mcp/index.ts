/** `/mcp`: the Model Context Protocol over Streamable HTTP. */
import type { JsonObject, JsonValue } from "../../../project/json.ts";
import type { Authenticator } from "../../auth/authenticator.ts";
import type { Config } from "../../config.ts";
import { fail, invalid } from "../../errors.ts";
import type { Sender } from "../../senders/senders.ts";
import { environmentHeader, traceHeader } from "../../services/request.ts";
import { isJsonContentType, readBody } from "../../webhooks/body.ts";
import { findViolation, parseJson, violationMessage } from "../../webhooks/json.ts";
import { type Request, type Response, sendJson } from "../answer.ts";
import { bodyError, jsonError } from "../body-error.ts";
import { inviteBody } from "../body-pace.ts";
import type { Session } from "../internal/calls.ts";
import type { LocalCalls } from "../internal/local-calls.ts";
import { refuseMethod } from "../methods.ts";
import { EventStream } from "./events.ts";
import { type Call, errorMessage, type Id, RpcError, readCall, resultMessage } from "./json-rpc.ts";
import { answerCall, protocolVersions } from "./methods.ts";
import type { Progress } from "./tool.ts";

export interface McpOptions {
  calls: LocalCalls;
  authenticator: Authenticator;
  senderOf(request: Request): Sender;
  config: Pick<Config, "limits" | "corsOrigins">;
  report(error: unknown): void;
}

const bodyTimeoutMs = 30_000;
/** Messages of one request. Only the version 2025-03-26 has more than one. */
const maxMessages = 20;

export async function answerMcp(
  options: McpOptions,
  request: Request,
  response: Response,
  query: URLSearchParams,
): Promise<void> {
  // The server starts no messages of its own, and has no sessions to end.
  if (request.method !== "POST") return refuseMethod(request, response, ["POST"]);
  const { authenticator, config } = options;
  const sender = options.senderOf(request);
  const owner = await authenticator.authenticate(request.headers.authorization ?? null);
  const caller = { ...owner, sender };
  checkOrigin(request, config.corsOrigins);
  checkVersion(request);
  const abort = new AbortController();
  response.on("close", () => abort.abort());
  const session: Session = {
    ...{ calls: options.calls, caller, limits: config.limits, signal: abort.signal },
    environment: String(request.headers[environmentHeader] ?? ""),
    trace: String(request.headers[traceHeader] ?? ""),
    hasControlTools: hasControlTools(query),
  };
  const body = await readMessages(request, config);
  const calls = body instanceof RpcError ? [] : body.messages.map(read).filter((call) => call !== null);
  if (body instanceof RpcError) return sendJson(response, 400, errorMessage(null, body));
  const [first] = calls;
  if (calls.every((call) => !(call instanceof RpcError) && call.id === null)) {
    // Notifications and responses are accepted and need no answer.
    response.writeHead(202).end();
    return;
  }
  const token = body.isBatch || first === undefined || first instanceof RpcError ? null : tokenOf(first);
  const events = token !== null && acceptsEvents(request) ? new EventStream(response) : null;
  const progress = events === null || token === null ? null : progressOf(events, token);
  const answers = await Promise.all(calls.map((call) => answer(call, session, progress, options)));
  if (abort.signal.aborted) return;
  const messages = answers.filter((message) => message !== null);
  if (events !== null) return events.end(messages[0] ?? {});
  sendJson(response, 200, body.isBatch ? messages : messages[0]);
}

/** The answer to a message; null for a notification. */
async function answer(
  call: Call | RpcError,
  session: Session,
  progress: Progress,
  { report }: McpOptions,
): Promise<JsonObject | null> {
  if (call instanceof RpcError) return errorMessage(null, call);
  if (call.id === null) return null;
  try {
    return resultMessage(call.id, await answerCall(call, session, progress, report));
  } catch (error) {
    if (error instanceof RpcError) return errorMessage(call.id, error);
    if (!session.signal.aborted) report(error);
    return errorMessage(call.id, new RpcError("internal", "The service failed to process the request."));
  }
}

function read(message: JsonValue): Call | RpcError | null {
  try {
    return readCall(message);
  } catch (error) {
    if (error instanceof RpcError) return error;
    throw error;
  }
}

/** Websites must not use the service through the browser of someone who can reach it. */
function checkOrigin({ headers }: Request, allowed: readonly string[]): void {
  const { origin } = headers;
  if (origin === undefined || allowed.includes("*") || allowed.includes(origin)) return;
  const text = origin.slice(0, 80);
  throw fail("ORIGIN_NOT_ALLOWED", `The origin '${text}' is not allowed: add it to SVC_CORS_ORIGINS.`);
}

function checkVersion({ headers }: Request): void {
  const named = headers["mcp-protocol-version"];
  if (named === undefined || protocolVersions.includes(String(named))) return;
  const text = String(named).slice(0, 40);
  throw invalid(`The protocol version '${text}' is not known: use ${protocolVersions.join(", ")}.`);
}

function hasControlTools(query: URLSearchParams): boolean {
  const tools = query.get("tools") ?? "all";
  if (tools === "all" || tools === "targets") return tools === "all";
  throw invalid(`The parameter tools must be all or targets, not '${tools.slice(0, 40)}'.`);
}

async function readMessages(
  request: Request,
  { limits }: McpOptions["config"],
): Promise<{ messages: JsonValue[]; isBatch: boolean } | RpcError> {
  if (!isJsonContentType(request.headers["content-type"])) throw jsonError("media_type", "");
  inviteBody(request);
  const body = await readBody(request, { maxBytes: limits.webhookBytes, timeoutMs: bodyTimeoutMs });
  if (!body.ok) throw bodyError(body.code, body.message);
  const parsed = parseJson(body.body);
  if (!parsed.ok) return new RpcError("parse", parsed.message);
  const messages = Array.isArray(parsed.value) ? parsed.value : [parsed.value];
  const violation = findViolation(messages, limits.jsonDepth + 4);
  if (violation !== null) return new RpcError("request", violationMessage(violation, limits.jsonDepth));
  if (messages.length === 0 || messages.length > maxMessages) {
    return new RpcError("request", `A batch must have 1 to ${maxMessages} messages, not ${messages.length}.`);
  }
  return { messages, isBatch: Array.isArray(parsed.value) };
}

/** The token with which the client asks for progress. */
function tokenOf({ params }: Call): Id | null {
  const meta = params._meta;
  const token = typeof meta === "object" && meta !== null && !Array.isArray(meta) ? meta.progressToken : null;
  return typeof token === "string" || typeof token === "number" ? token : null;
}

function acceptsEvents({ headers }: Request): boolean {
  return headers.accept?.includes("text/event-stream") === true;
}

function progressOf(events: EventStream, progressToken: Id): Progress {
  let progress = 0;
  return (message) =>
    events.send({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken, progress: ++progress, message },
    });
}
