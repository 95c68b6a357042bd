/** Reads the sources of a field mapping from a request, or from a delivery that is sent again. */
import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "../../project/json.ts";
import type { RequestSources } from "../../project/mapping-source.ts";
import { queryOf } from "./content/raw.ts";
import { hidden } from "./credentials.ts";
import type { Route } from "./route-table.ts";

/** The kept headers of a delivery hold the query under this name when the mapping uses it. */
const queryName = ":query";

/**
 * The sources of a request. Adds the query to the kept headers when the mapping uses it, for a redelivery.
 *
 * @param kept - the headers that the delivery keeps, without credentials
 */
export function sourcesOfRequest(route: Route, kept: Record<string, string>, url: string): RequestSources {
  keepQuery(route, kept, url);
  return sourcesOfKept(route, kept);
}

/** Adds the query to the kept headers of a delivery when the mapping uses it. */
export function keepQuery(route: Route, kept: Record<string, string>, url: string): void {
  const at = url.indexOf("?");
  if (route.mapping?.usesQuery === true && at >= 0) kept[queryName] = url.slice(at);
}

/** The sources of a filter: its values are compared and not kept, so that credentials need no redaction. */
export function sourcesOfFilter(route: Route, headers: IncomingHttpHeaders, url: string): RequestSources {
  const plain: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === "string") plain[name] = value;
  }
  return { headers: plain, query: queryOf(url), path: `/${route.kind}/${route.name}/${route.slug}` };
}

/** The sources of a delivery. A redacted header is missing. */
export function sourcesOfKept(route: Route, kept: Readonly<Record<string, string>>): RequestSources {
  const { [queryName]: query, ...headers } = kept;
  return {
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== hidden)),
    query: query === undefined ? ({} as JsonObject) : queryOf(query),
    path: `/${route.kind}/${route.name}/${route.slug}`,
  };
}
