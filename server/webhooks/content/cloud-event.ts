/**
 * CloudEvents 1.0 in binary mode, where headers carry the attributes and the body is the data (HTTP protocol binding,
 * section 3.1). The payload has the JSON event format, the same as in structured mode.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "../../../project/json.ts";
import { parseJson } from "../json.ts";
import type { ContentKind } from "./kind.ts";
import { type Content, refused, sealed } from "./result.ts";
import { textOf } from "./text.ts";

export function isCloudEvent(headers: IncomingHttpHeaders): boolean {
  return headers["ce-specversion"] !== undefined;
}

export function readCloudEvent(
  kind: ContentKind | null,
  body: Uint8Array,
  headers: IncomingHttpHeaders,
  depth: number,
): Content {
  const event: JsonObject = {};
  for (const name in headers) {
    const value = headers[name];
    if (/^ce-[a-z0-9]{1,64}$/.test(name) && typeof value === "string") event[name.slice(3)] = decoded(value);
  }
  for (const name of ["id", "source", "type"]) {
    if (typeof event[name] !== "string") return refused(`A CloudEvent must have the header ce-${name}.`);
  }
  const type = headers["content-type"];
  if (type !== undefined) event.datacontenttype = type;
  if (body.length === 0) return sealed(event, depth);
  if (kind === "json") {
    const parsed = parseJson(body);
    if (!parsed.ok) return refused(parsed.message);
    event.data = parsed.value;
    return sealed(event, depth);
  }
  const text = kind === "text" || kind === "form" ? textOf(body) : null;
  if (text !== null) event.data = text;
  else event.data_base64 = Buffer.from(body).toString("base64");
  return sealed(event, depth);
}

/** Attribute values are percent-encoded. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
