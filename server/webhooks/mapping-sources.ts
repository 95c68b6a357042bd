/** Reads the sources of a field mapping from a request, or from a delivery that is sent again. */
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
  const at = url.indexOf("?");
  if (route.mapping?.usesQuery === true && at >= 0) kept[queryName] = url.slice(at);
  return sourcesOfKept(route, kept);
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
