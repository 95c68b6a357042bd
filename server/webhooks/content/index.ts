/**
 * Reads the body of a webhook request as a JSON object, whatever its content type.
 *
 * | content type | payload |
 * |---|---|
 * | JSON object | the object |
 * | other JSON | `{ payload }` |
 * | `application/x-www-form-urlencoded`, `multipart/form-data` | the fields; a single field `payload` with JSON is unwrapped |
 * | text and XML | `{ payload }` with the text |
 * | none | as JSON when it is JSON, otherwise as text; `{}` for an empty body |
 * | any, with `ce-specversion` | the CloudEvent in the form of the JSON event format |
 *
 * A JSON object in `application/json` does not come here: `parseJsonObject` reads it.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "../../../project/json.ts";
import { parseJson } from "../json.ts";
import { isCloudEvent, readCloudEvent } from "./cloud-event.ts";
import { readForm } from "./form.ts";
import type { ContentKind } from "./kind.ts";
import { readMultipart } from "./multipart.ts";
import { type Content, refused, sealed } from "./result.ts";
import { readText } from "./text.ts";

export interface ContentOptions {
  /** Allowed levels of nesting. */
  depth: number;
  /** Whether files of `multipart/form-data` are accepted. */
  files: boolean;
}

/** @param kind - null for a content type that only CloudEvents may have */
export function readContent(
  kind: ContentKind | null,
  body: Uint8Array,
  headers: IncomingHttpHeaders,
  options: ContentOptions,
): Content {
  const { depth } = options;
  if (isCloudEvent(headers)) return readCloudEvent(kind, body, headers, depth);
  switch (kind) {
    case "json":
      return readJson(body, depth);
    case "form":
      return readForm(body, depth);
    case "multipart":
      return readMultipart(body, headers["content-type"] ?? "", options);
    case "text":
      // Amazon SNS sends JSON as text/plain.
      return headers["x-amz-sns-message-type"] === undefined ? readText(body) : readJson(body, depth);
    case "untyped":
      return readUntyped(body, depth);
    case null:
      return refused("The Content-Type is not supported.");
  }
}

/** Any JSON; what is not an object becomes `{ payload }`. */
export function readJson(body: Uint8Array, depth: number): Content {
  const parsed = parseJson(body);
  if (!parsed.ok) return refused(parsed.message);
  const { value } = parsed;
  const object: JsonObject =
    typeof value === "object" && value !== null && !Array.isArray(value) ? value : { payload: value };
  return sealed(object, depth);
}

function readUntyped(body: Uint8Array, depth: number): Content {
  if (body.length === 0) return { ok: true, value: {}, text: "{}" };
  const parsed = parseJson(body);
  return !parsed.ok && parsed.code === "not_json" ? readText(body) : readJson(body, depth);
}
