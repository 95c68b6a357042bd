import type { TargetDefinition, WebhookDefinition } from "../../project/definition.ts";
import { isJsonObject, type JsonObject } from "../../project/json.ts";
import type { RequestSources } from "../../project/mapping-source.ts";
import { UsageError } from "../app/errors.ts";

/**
 * The headers and the query as the server would read them: header names in lower case.
 *
 * @param request - an object with `headers` and `query`, both optional
 */
export function requestSources(
  request: JsonObject,
  { kind, name }: TargetDefinition,
  { slug }: WebhookDefinition,
): RequestSources {
  const { headers = {}, query = {} } = request;
  if (!isJsonObject(headers) || !isJsonObject(query)) {
    throw new UsageError(
      "The request must hold objects.",
      'Example: {"headers": {"x-github-event": "issues"}, "query": {"team": "a"}}',
    );
  }
  const lower = Object.entries(headers).map(([key, value]) => [key.toLowerCase(), String(value)] as const);
  return { headers: Object.fromEntries(lower), query, path: `/${kind}/${name}/${slug}` };
}
