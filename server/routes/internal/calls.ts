/** Calls methods of the services for a client of the Model Context Protocol, with JSON in and out as REST has it. */
import { type DescMethod, type JsonObject, toJson } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { checkScope } from "../../auth/authenticator.ts";
import type { Caller } from "../../auth/caller.ts";
import type { Limits } from "../../config/limits.ts";
import { environmentHeader, traceHeader } from "../../services/request.ts";
import { callerHeader, encodeCaller } from "../rest/caller-header.ts";
import { decodeRequest } from "../rest/decode.ts";
import { jsonWriteOptions, wireOptions } from "../wire.ts";

export type UnaryMethod = DescMethod & { methodKind: "unary" };
export type StreamMethod = DescMethod & { methodKind: "server_streaming" };

/** The caller of one HTTP request. */
export interface Session {
  transport: Transport;
  caller: Caller;
  /** From the prefix of the path; empty without one. */
  environment: string;
  /** The context of the request for executions; empty without tracing. */
  trace: string;
  limits: Pick<Limits, "jsonDepth">;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
  /** Whether `svc_…` tools are offered besides the agents and workflows. */
  hasControlTools: boolean;
}

/** @throws ConnectError when the key lacks the scope of the method, or of the method itself */
export async function callUnary(
  session: Session,
  method: UnaryMethod,
  json: JsonObject,
): Promise<JsonObject> {
  const { transport, signal } = session;
  const message = prepare(session, method, json);
  const answer = await transport.unary(method, signal, undefined, headers(session), message);
  return toJson(method.output, answer.message, jsonWriteOptions) as JsonObject;
}

/** Like `callUnary`, for streams. */
export async function* callStream(
  session: Session,
  method: StreamMethod,
  json: JsonObject,
  signal: AbortSignal = session.signal,
): AsyncGenerator<JsonObject> {
  const message = prepare(session, method, json);
  const input = (async function* () {
    yield message;
  })();
  const answer = await session.transport.stream(method, signal, undefined, headers(session), input);
  for await (const item of answer.message) yield toJson(method.output, item, jsonWriteOptions) as JsonObject;
}

function prepare({ caller, limits }: Session, method: DescMethod, json: JsonObject) {
  checkScope(method, caller);
  const { jsonOptions } = wireOptions(limits);
  return decodeRequest(method.input, json, jsonOptions);
}

function headers({ caller, environment, trace }: Session): Headers {
  const header = new Headers({ [callerHeader]: encodeCaller(caller) });
  if (environment !== "") header.set(environmentHeader, environment);
  if (trace !== "") header.set(traceHeader, trace);
  return header;
}
