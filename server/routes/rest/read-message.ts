/** Reads the request message of a method from the body, the query and the path of a REST request. */
import type { DescMessage, JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { Limits } from "../../config/limits.ts";
import { isJsonContentType, readBody } from "../../webhooks/body.ts";
import { parseJsonObject } from "../../webhooks/json.ts";
import type { Request } from "../answer.ts";
import { bodyError, jsonError } from "../body-error.ts";
import { inviteBody } from "../body-pace.ts";
import { wireOptions } from "../wire.ts";
import { decodeRequest } from "./decode.ts";
import type { Match } from "./http-rule.ts";
import { addQuery, setVariable } from "./query.ts";

const bodyTimeoutMs = 30_000;

export type Message = MessageInitShape<DescMessage>;
export type BodyLimits = Pick<Limits, "webhookBytes" | "jsonDepth">;

export async function readMessage(
  request: Request,
  match: Match,
  query: URLSearchParams,
  limits: BodyLimits,
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

async function readJson(request: Request, limits: BodyLimits): Promise<JsonObject> {
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
