/**
 * Transcodes REST requests: decodes a request that matches an HTTP rule into the request message of its method, calls
 * the method through the same router and interceptors as an RPC, and writes the response as JSON. A stream is written
 * as newline-delimited JSON.
 */
import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type JsonObject,
  type JsonValue,
  type MessageInitShape,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { Limits } from "../config.ts";
import { fail, invalid, statusHeader, toPublicError } from "../errors.ts";
import { isJsonContentType, readBody } from "../webhooks/body.ts";
import { parseJsonObject } from "../webhooks/json.ts";
import { type Request, type Response, sendError, sendJson } from "./answer.ts";
import { bodyError, jsonError } from "./body-error.ts";
import { decodeRequest } from "./decode.ts";
import type { Match } from "./http-rule.ts";
import { jsonWriteOptions, wireOptions } from "./wire.ts";

const bodyTimeoutMs = 30_000;
/** The headers of a stream are sent after this time when it has neither an item nor an error. */
const firstItemMs = 100;
/** Request headers that are passed to methods. */
const passedHeaders = ["authorization", "idempotency-key", "prefer", "svc-environment"];

export type Transcoder = (
  request: Request,
  response: Response,
  match: Match,
  query: URLSearchParams,
) => Promise<void>;

export function createTranscoder(
  transport: Transport,
  limits: Limits,
  report: (error: unknown) => void,
): Transcoder {
  return async (request, response, match, query) => {
    const abort = new AbortController();
    response.on("close", () => abort.abort());
    try {
      const message = await readMessage(request, match, query, limits);
      const header = new Headers();
      for (const name of passedHeaders) {
        const value = request.headers[name];
        if (typeof value === "string") header.set(name, value);
      }
      const { method } = match.rule;
      if (method.methodKind === "unary") {
        await sendUnary(
          transport,
          method as DescMethod & { methodKind: "unary" },
          message,
          header,
          abort.signal,
          response,
        );
      } else if (method.methodKind === "server_streaming") {
        await sendStream(
          transport,
          method as DescMethod & { methodKind: "server_streaming" },
          message,
          header,
          abort.signal,
          response,
        );
      } else {
        throw fail(Code.Unimplemented, `${method.name} is not available over REST.`);
      }
    } catch (error) {
      if (abort.signal.aborted) return;
      sendError(response, toPublicError(ConnectError.from(error), report));
    }
  };
}

type Message = MessageInitShape<DescMessage>;

async function sendUnary(
  transport: Transport,
  method: DescMethod & { methodKind: "unary" },
  message: Message,
  header: Headers,
  signal: AbortSignal,
  response: Response,
): Promise<void> {
  const answer = await transport.unary(method, signal, undefined, header, message);
  const headers: Record<string, string> = {};
  for (const name of ["location", "preference-applied", "retry-after"]) {
    const value = answer.header.get(name);
    if (value !== null) headers[name] = value;
  }
  const status = Number(answer.header.get(statusHeader) ?? 200);
  sendJson(response, status, toJson(method.output, answer.message, jsonWriteOptions), headers);
}

async function sendStream(
  transport: Transport,
  method: DescMethod & { methodKind: "server_streaming" },
  message: Message,
  header: Headers,
  signal: AbortSignal,
  response: Response,
): Promise<void> {
  const input = (async function* () {
    yield message;
  })();
  const start = () => {
    if (response.headersSent) return;
    response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
    response.flushHeaders();
  };
  // An error before the first item gets its own status, unless the headers were sent because the stream was quiet.
  const quiet = setTimeout(start, firstItemMs);
  try {
    const answer = await transport.stream(method, signal, undefined, header, input);
    for await (const item of answer.message) {
      start();
      const line = `${JSON.stringify(toJson(method.output, item, jsonWriteOptions))}\n`;
      if (!response.write(line)) await drained(response, signal);
    }
  } catch (error) {
    if (!response.headersSent) throw error;
    // The status is sent already: a reset connection tells the client that the stream is incomplete.
    response.destroy();
    return;
  } finally {
    clearTimeout(quiet);
  }
  start();
  response.end();
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
  limits: Limits,
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
  if (rule.body !== "*") addQuery(json, rule.method.input, query, bound);
  for (const [name, value] of Object.entries(variables)) {
    // The path takes precedence: a body must not select another resource than its URL.
    delete json[rule.method.input.fields.find((field) => field.name === name)?.jsonName ?? name];
    json[name] = value;
  }
  return decodeRequest(rule.method.input, json, wireOptions(limits).jsonOptions);
}

async function readJson(request: Request, limits: Limits): Promise<JsonObject> {
  const length = request.headers["content-length"];
  const empty =
    request.headers["transfer-encoding"] === undefined && (length === undefined || length === "0");
  if (empty && request.httpVersionMajor < 2) return {};
  const body = await readBody(request, { maxBytes: limits.webhookBytes, timeoutMs: bodyTimeoutMs });
  if (!body.ok) throw bodyError(body.code, body.message);
  if (body.body.byteLength === 0) return {};
  if (!isJsonContentType(request.headers["content-type"])) throw jsonError("media_type", "");
  const parsed = parseJsonObject(body.body, { depth: limits.jsonDepth });
  if (!parsed.ok) throw jsonError(parsed.code, parsed.message);
  return parsed.value as JsonObject;
}

/** Adds query parameters, in both spellings of their field; fields bound by the path or body are rejected. */
function addQuery(json: JsonObject, input: DescMessage, query: URLSearchParams, bound: Set<string>): void {
  for (const name of new Set(query.keys())) {
    const field = input.fields.find((candidate) => candidate.name === name || candidate.jsonName === name);
    if (field === undefined || bound.has(field.name)) {
      throw invalid(
        `Cannot use the query parameter '${name.slice(0, 80)}': the method has no such parameter.`,
      );
    }
    const values = query.getAll(name);
    json[field.name] =
      field.fieldKind === "list"
        ? values.map((value) => queryValue(field, value))
        : queryValue(field, values.at(-1) ?? "");
  }
}

function queryValue(field: DescField, text: string): JsonValue {
  if (field.scalar === ScalarType.BOOL) {
    if (text === "true" || text === "1" || text === "") return true;
    if (text === "false" || text === "0") return false;
    throw invalid(`Cannot use '${text.slice(0, 80)}' for ${field.name}: it must be true or false.`);
  }
  return text;
}
