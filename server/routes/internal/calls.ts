/** Calls methods of the services for a client of the Model Context Protocol, with JSON in and out as REST has it. */
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { checkScope } from "../../auth/authenticator.ts";
import type { Caller } from "../../auth/caller.ts";
import type { Limits } from "../../config/limits.ts";
import { environmentHeader, traceHeader } from "../../services/request.ts";
import { decodeRequest } from "../rest/decode.ts";
import { jsonWriteOptions, wireOptions } from "../wire.ts";
import type { LocalCall, LocalCalls, StreamMethod, UnaryMethod } from "./local-calls.ts";

/** The caller of one HTTP request. */
export interface Session {
  calls: LocalCalls;
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
  const answer = await session.calls.unary(prepare(session, method, json, session.signal));
  return toJson(method.output, answer.message, jsonWriteOptions) as JsonObject;
}

/** Like `callUnary`, for streams. */
export async function* callStream(
  session: Session,
  method: StreamMethod,
  json: JsonObject,
  signal: AbortSignal = session.signal,
): AsyncGenerator<JsonObject> {
  const answer = await session.calls.stream(prepare(session, method, json, signal));
  for await (const item of answer.message) yield toJson(method.output, item, jsonWriteOptions) as JsonObject;
}

function prepare<Method extends UnaryMethod | StreamMethod>(
  { caller, environment, trace, limits }: Session,
  method: Method,
  json: JsonObject,
  signal: AbortSignal,
): LocalCall<Method> {
  checkScope(method, caller);
  const { jsonOptions } = wireOptions(limits);
  const header = new Headers();
  if (environment !== "") header.set(environmentHeader, environment);
  if (trace !== "") header.set(traceHeader, trace);
  return { method, message: decodeRequest(method.input, json, jsonOptions), caller, header, signal };
}
