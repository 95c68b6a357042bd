/** Addresses after `#`, such as `#/executions/exe_…?status=failed`: links work behind every proxy path and can be shared. */
import { signal } from "./signal.ts";

export interface Route {
  /** Decoded segments of the path. */
  path: readonly string[];
  query: URLSearchParams;
}

function read(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export const route = signal<Route>(read());
addEventListener("hashchange", () => route.set(read()));

export function href(path: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const used = Object.entries(query).filter(([, value]) => value !== "");
  const search = used.length === 0 ? "" : `?${new URLSearchParams(used)}`;
  return `#/${path.map(encodeURIComponent).join("/")}${search}`;
}

export function go(path: readonly string[], query?: Readonly<Record<string, string>>): void {
  location.hash = href(path, query);
}

/** Changes the query without a new entry of the history. */
export function setQuery(values: Readonly<Record<string, string>>): void {
  const { path, query } = route.get();
  const next = { ...Object.fromEntries(query), ...values };
  history.replaceState(null, "", href(path, next));
  route.set(read());
}
