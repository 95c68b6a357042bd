/** Calls a unary method and sends its response as JSON. */
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { statusHeader } from "../../errors.ts";
import { sendJson } from "../answer.ts";
import type { UnaryMethod } from "../internal/local-calls.ts";
import { jsonWriteOptions } from "../wire.ts";
import type { Call } from "./call.ts";

/** Response headers of methods that are sent. */
const sentHeaders = ["location", "preference-applied", "idempotent-replayed", "retry-after"];

/** @param responseBody - the field that is sent, from the HTTP rule. Empty for the whole message. */
export async function sendUnary(call: Call<UnaryMethod>, responseBody: string): Promise<void> {
  const { calls, method, response } = call;
  const answer = await calls.unary(call);
  const headers: Record<string, string> = {};
  for (const name of sentHeaders) {
    const value = answer.header.get(name);
    if (value !== null) headers[name] = value;
  }
  const status = Number(answer.header.get(statusHeader) ?? 200);
  const json = toJson(method.output, answer.message, jsonWriteOptions);
  sendJson(response, status, responseBody === "" ? json : (json as JsonObject)[responseBody], headers);
}
