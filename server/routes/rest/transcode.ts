/**
 * Transcodes REST requests: decodes a request that matches an HTTP rule into the request message of its method, calls
 * the method through the same router and interceptors as an RPC, and writes the response as JSON. A stream is written
 * as newline-delimited JSON.
 */
import {
  type DescMessage,
  type DescMethod,
  type JsonObject,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type Transport } from "@connectrpc/connect";
import type { Authenticator } from "../../auth/authenticator.ts";
import { type Caller, setCallerIn } from "../../auth/caller.ts";
import type { Limits } from "../../config/limits.ts";
import { errorJson, fail, invalid, statusHeader, toPublicError } from "../../errors.ts";
import type { Sender } from "../../senders/senders.ts";
import { traceHeader, withExactNumbers } from "../../services/request.ts";
import { isJsonContentType, readBody } from "../../webhooks/body.ts";
import { parseJsonObject } from "../../webhooks/json.ts";
import { type Request, type Response, sendError, sendJson } from "../answer.ts";
import { bodyError, jsonError } from "../body-error.ts";
import { inviteBody } from "../body-pace.ts";
import type { Report } from "../report.ts";
import { requestIdHeader, requestIdOf } from "../request-id.ts";
import { jsonWriteOptions, wireOptions } from "../wire.ts";
import { decodeRequest } from "./decode.ts";
import type { Match } from "./http-rule.ts";
import { addQuery, setVariable } from "./query.ts";

const bodyTimeoutMs = 30_000;
/** The headers of a stream are sent after this time when it has neither an item nor an error. */
const firstItemMs = 100;
/** Request headers that are passed to methods. */
const timeoutHeader = "connect-timeout-ms";
const passedHeaders = [
  "idempotency-key",
  "prefer",
  "svc-environment",
  traceHeader,
  timeoutHeader,
  requestIdHeader,
  "traceparent",
];
/** Carries the caller to the router: the in-memory transport passes headers, and no context values. */
export const callerHeader = "svc-caller";

export type Transcoder = (
  request: Request,
  response: Response,
  match: Match,
  query: URLSearchParams,
) => Promise<void>;

export interface TranscoderOptions {
  transport: Transport;
  authenticator: Pick<Authenticator, "authorize">;
  senderOf(request: Request): Sender;
  limits: Pick<Limits, "webhookBytes" | "jsonDepth">;
  report: Report;
}

export function createTranscoder({
  transport,
  authenticator,
  senderOf,
  limits,
  report,
}: TranscoderOptions): Transcoder {
  return async (request, response, match, query) => {
    const abort = new AbortController();
    response.on("close", () => abort.abort());
    try {
      const { method } = match.rule;
      const sender = senderOf(request);
      const owner = await authenticator.authorize(method, request.headers.authorization ?? null);
      const caller: Caller | null = owner === null ? null : { ...owner, sender };
      const message = await readMessage(request, match, query, limits);
      const header = new Headers({ [callerHeader]: encodeCaller(caller) });
      for (const name of passedHeaders) {
        const value = request.headers[name];
        if (typeof value === "string") header.set(name, value);
      }
      if (method.methodKind === "unary") {
        await sendUnary(
          transport,
          method as DescMethod & { methodKind: "unary" },
          message,
          header,
          abort.signal,
          response,
          match.rule.responseBody,
        );
      } else if (method.methodKind === "server_streaming") {
        await sendStream(
          transport,
          method as DescMethod & { methodKind: "server_streaming" },
          message,
          header,
          abort.signal,
          response,
          (cause) => report(cause, requestIdOf(request)),
        );
      } else {
        throw fail("UNSUPPORTED", `${method.name} is not available over REST.`);
      }
    } catch (error) {
      if (abort.signal.aborted) return;
      sendError(
        response,
        toPublicError(ConnectError.from(error), (cause) => report(cause, requestIdOf(request))),
      );
    }
  };
}

/** The value of the header that carries the caller. */
export function encodeCaller(caller: Caller | null): string {
  return encodeURIComponent(JSON.stringify(caller));
}

/** The gate of the in-memory router, which is called only after the caller was authorized. */
export function acceptCaller(context: HandlerContext): void {
  const caller = context.requestHeader.get(callerHeader) ?? "null";
  setCallerIn(context.values, JSON.parse(decodeURIComponent(caller)) as Caller | null);
  withExactNumbers(context.values);
}

type Message = MessageInitShape<DescMessage>;

async function sendUnary(
  transport: Transport,
  method: DescMethod & { methodKind: "unary" },
  message: Message,
  header: Headers,
  signal: AbortSignal,
  response: Response,
  responseBody: string,
): Promise<void> {
  const answer = await transport.unary(method, signal, timeoutMs(header), header, message);
  const headers: Record<string, string> = {};
  for (const name of ["location", "preference-applied", "idempotent-replayed", "retry-after"]) {
    const value = answer.header.get(name);
    if (value !== null) headers[name] = value;
  }
  const status = Number(answer.header.get(statusHeader) ?? 200);
  const json = toJson(method.output, answer.message, jsonWriteOptions);
  sendJson(response, status, responseBody === "" ? json : (json as JsonObject)[responseBody], headers);
}

async function sendStream(
  transport: Transport,
  method: DescMethod & { methodKind: "server_streaming" },
  message: Message,
  header: Headers,
  signal: AbortSignal,
  response: Response,
  report: (error: unknown) => void,
): Promise<void> {
  const input = (async function* () {
    yield message;
  })();
  const start = () => {
    if (response.headersSent) return;
    response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
    response.flushHeaders();
  };
  // An error before the first item gets its own status, unless the headers were sent because the stream was quiet. A
  // deadline that passes before that is such an error, also on a busy machine where both timers are late.
  const deadlineMs = timeoutMs(header);
  const endsBefore = deadlineMs !== undefined && deadlineMs <= firstItemMs;
  const quiet = endsBefore ? undefined : setTimeout(start, firstItemMs);
  try {
    const answer = await transport.stream(method, signal, deadlineMs, header, input);
    for await (const item of answer.message) {
      start();
      const line = `${JSON.stringify(toJson(method.output, item, jsonWriteOptions))}\n`;
      if (!response.write(line)) await drained(response, signal);
    }
  } catch (error) {
    if (!response.headersSent) throw error;
    // The status is sent already: the last line names the error, and the reset tells that the stream is incomplete.
    if (signal.aborted) return void response.destroy();
    const line = JSON.stringify({ error: errorJson(toPublicError(error, report)) });
    response.write(`${line}\n`, () => response.destroy());
    return;
  } finally {
    clearTimeout(quiet);
  }
  start();
  response.end();
}

/** The deadline of a call, in the header that Connect has for it. */
function timeoutMs(header: Headers): number | undefined {
  const text = header.get(timeoutHeader);
  if (text === null) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw invalid(`Cannot use ${timeoutHeader} '${text.slice(0, 40)}': it must be 1 to 10 digits.`);
}

function drained(response: Response, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onDrain = () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    };
    const onAbort = () => {
      response.off("drain", onDrain);
      reject(new ConnectError("The client disconnected.", Code.Canceled));
    };
    response.once("drain", onDrain);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

async function readMessage(
  request: Request,
  match: Match,
  query: URLSearchParams,
  limits: Pick<Limits, "webhookBytes" | "jsonDepth">,
): Promise<Message> {
  const { rule, variables } = match;
  const json: JsonObject = {};
  const bound = new Set(Object.keys(variables));
  if (rule.body !== "") {
    const body = await readJson(request, limits);
    if (rule.body === "*") Object.assign(json, body);
    else {
      json[rule.body] = body;
      bound.add(rule.body);
    }
  }
  // With the body `*` every field is part of the body.
  if (rule.body === "*") for (const field of rule.method.input.fields) bound.add(field.name);
  const { jsonOptions } = wireOptions(limits);
  addQuery(json, rule, query, bound, jsonOptions);
  // The path comes last: a body must not select another resource than its URL.
  for (const [name, value] of Object.entries(variables)) setVariable(json, rule.method.input, name, value);
  return decodeRequest(rule.method.input, json, jsonOptions);
}

async function readJson(
  request: Request,
  limits: Pick<Limits, "webhookBytes" | "jsonDepth">,
): Promise<JsonObject> {
  const length = request.headers["content-length"];
  const empty =
    request.headers["transfer-encoding"] === undefined && (length === undefined || length === "0");
  if (empty && request.httpVersionMajor < 2) return {};
  inviteBody(request);
  const body = await readBody(request, { maxBytes: limits.webhookBytes, timeoutMs: bodyTimeoutMs });
  if (!body.ok) throw bodyError(body.code, body.message);
  if (body.body.byteLength === 0) return {};
  if (!isJsonContentType(request.headers["content-type"])) throw jsonError("media_type", "");
  const parsed = parseJsonObject(body.body, { depth: limits.jsonDepth });
  if (!parsed.ok) throw jsonError(parsed.code, parsed.message);
  return parsed.value as JsonObject;
}
