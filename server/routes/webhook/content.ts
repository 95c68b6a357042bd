/** Reads the content of webhook requests that are not a JSON object. */
import { ConnectError } from "@connectrpc/connect";
import { invalid } from "../../errors.ts";
import { isCloudEvent } from "../../webhooks/content/cloud-event.ts";
import { readContent } from "../../webhooks/content/index.ts";
import { type ContentKind, contentKindOf } from "../../webhooks/content/kind.ts";
import { queryOf, rawPayload } from "../../webhooks/content/raw.ts";
import { withoutCredentials } from "../../webhooks/credentials.ts";
import { type JsonResult, parseJsonObject } from "../../webhooks/json.ts";
import type { Route } from "../../webhooks/route-table.ts";
import type { Payload } from "../../webhooks/trigger.ts";
import type { Request } from "../answer.ts";
import { jsonError } from "../body-error.ts";

/**
 * @param json - the result of reading the body as a JSON object; null for other content types
 * @throws ConnectError 400, unless the webhook takes raw bodies: then a body that cannot be read has an empty payload
 */
export function readOtherContent(
  { headers }: Request,
  { definition }: Route,
  kind: ContentKind | null,
  body: Uint8Array,
  json: JsonResult | null,
  depth: number,
): Payload {
  const isRaw = definition.raw === true;
  const empty = { value: {}, text: "{}" };
  // Google's push notifications have the content type of JSON and no body.
  if (body.length === 0 && headers["x-goog-channel-id"] !== undefined) return empty;
  if (json !== null && !json.ok && json.code !== "not_object") {
    if (isRaw) return empty;
    throw jsonError(json.code, json.message);
  }
  if (isRaw && kind === null) return empty;
  const content = readContent(kind, body, headers, { depth, files: definition.files !== "refuse" });
  if (content.ok) return content;
  if (isRaw) return empty;
  throw invalid(content.message);
}

/** The payload of a request whose signature is invalid, as JSON text; null when it cannot be read. */
export function readUnverified(
  request: Request,
  route: Route,
  body: Uint8Array,
  depth: number,
): string | null {
  const { headers, method, url = "" } = request;
  const kind = contentKindOf(headers["content-type"]);
  try {
    if (route.definition.raw === true) return readRaw(request, route, body).text;
    if (method === "GET") return JSON.stringify(queryOf(url));
    const json = kind === "json" && !isCloudEvent(headers) ? parseJsonObject(body, { depth }) : null;
    return json?.ok ? json.text : readOtherContent(request, route, kind, body, json, depth).text;
  } catch (error) {
    if (error instanceof ConnectError) return null;
    throw error;
  }
}

/** The payload `{ headers, query, body }`. */
export function readRaw(request: Request, { definition }: Route, body: Uint8Array): Payload {
  return rawPayload(withoutCredentials(request.headers, definition.signature), request.url ?? "", body);
}
