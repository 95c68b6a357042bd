import { invalidArgument, messageOf, quote } from "./error.ts";

/** A validated base URL. */
export interface BaseUrl {
  origin: string;
  /** Host without brackets and port. */
  hostname: string;
  /** The URL without a trailing slash. */
  href: string;
  /** Prefix of the path of every request, with a trailing slash. */
  prefix: string;
}

/** Query parameters. `undefined` and `null` are omitted, arrays repeat the name, objects are encoded as JSON. */
export type QueryParams = Record<string, unknown>;

/**
 * Validates a base URL: `http` or `https`, without user name, password, query and fragment.
 *
 * @throws RestError `invalid_argument`
 */
export function parseBaseUrl(baseUrl: string): BaseUrl {
  const fail = (rule: string): Error => invalidArgument(`Cannot use the baseUrl: it must ${rule}`);
  const url = typeof baseUrl === "string" ? URL.parse(baseUrl) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    // Text that is not a URL may hold a password, so the message does not quote it.
    const shown = url || typeof baseUrl !== "string" ? quote(baseUrl) : "text that is not a URL";
    throw fail(`be an absolute http or https URL, got ${shown}`);
  }
  if (url.username || url.password) throw fail("contain no user name or password; pass apiKey instead");
  if (/[?#]/.test(baseUrl)) throw fail(`contain no query and no fragment, got ${quote(url.href)}`);
  const path = url.pathname.replace(/\/+$/, "");
  return {
    origin: url.origin,
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    href: url.origin + path,
    prefix: `${path}/`,
  };
}

/**
 * Appends a path, which may include a query, to the base URL. A path that could lead outside the base URL is refused,
 * by the URL standard or by servers that decode a path more than once.
 *
 * @param params - appended to the query of the path
 * @throws RestError `invalid_argument`
 */
export function joinPath(base: BaseUrl, path: string, params?: QueryParams): string {
  if (typeof path !== "string") {
    throw invalidArgument(`Cannot send the request: the path must be a string, got ${quote(path)}`);
  }
  if (!params && plainPath.test(path) && !path.includes("/.")) {
    return path.startsWith("/") ? base.href + path : `${base.href}/${path}`;
  }
  const question = path.indexOf("?");
  const pathname = question < 0 ? path : path.slice(0, question);
  const slash = pathname === "" || pathname.startsWith("/") ? "" : "/";
  const query = joinQuery(question < 0 ? "" : path.slice(question + 1), params);
  const url = URL.parse(base.href + slash + pathname + query);
  const below = url?.origin === base.origin && `${url.pathname}/`.startsWith(base.prefix);
  const rule = brokenRule(path, pathname) ?? (below ? null : "it must stay below the base URL");
  if (!url || rule) throw invalidArgument(`Cannot use the path ${quote(path)}: ${rule}`);
  return url.href;
}

/** Most paths. Nothing in them has a meaning in a URL, except a segment that begins with a dot. */
const plainPath = /^\/?[\w~-][\w.~/-]*$/;

const controlCharacter = /\p{Cc}/u;

/** Returns the rule that a path violates, or null. */
function brokenRule(path: string, pathname: string): string | null {
  if (!path.isWellFormed()) return "it must be well-formed Unicode";
  if (controlCharacter.test(path)) return "it must not contain control characters";
  if (path.trim() !== path || pathname.trim() !== pathname)
    return "it must not begin or end with white space";
  if (path.includes("\\")) return "it must not contain a backslash";
  if (path.includes("#")) return "it must not contain a fragment; write # as %23";
  if (/^[a-z][a-z0-9+.-]*:/i.test(pathname)) return "it must not be an absolute URL";
  if (/^[^/]*@/.test(pathname)) return "it must not contain a user name; begin it with / if it is a path";
  // A server behind a proxy may decode again, so each round of decoding is checked.
  let decoded = pathname;
  for (let round = 0; round < 8; round++) {
    if (controlCharacter.test(decoded)) return "it must not contain encoded control characters";
    if (decoded.includes("\\")) return "it must not contain an encoded backslash";
    if (decoded.startsWith("//")) return "it must not begin with //, plain or encoded";
    if (hasParentSegment(decoded) || hasParentSegment(decoded.normalize("NFKC"))) {
      return "it must not contain a .. segment, plain or encoded";
    }
    if (/%(?:c[01]|e0%[89]|f0%8)/i.test(decoded)) return "it must not contain overlong UTF-8";
    const next = round === 0 ? decodeUtf8(decoded) : decodeAscii(decoded);
    if (next === null) return "its percent-encoding must be valid UTF-8; write % as %25";
    if (next === decoded) return null;
    decoded = next;
  }
  return "it must not be percent-encoded more than seven times";
}

/** Whether a segment is `..`. Servlet containers ignore the part of a segment after a semicolon. */
function hasParentSegment(path: string): boolean {
  return path.split(/[/\\]/).some((segment) => segment.split(";", 1)[0]?.trim() === "..");
}

function decodeUtf8(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function decodeAscii(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function joinQuery(given: string, params: QueryParams = {}): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) added.append(name, queryText(name, item));
    }
  }
  const query = [given, added.toString()].filter((part) => part !== "").join("&");
  return query === "" ? "" : `?${query}`;
}

function queryText(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  let cause: unknown = "it has no JSON form";
  try {
    if (value instanceof Date) return value.toISOString();
    const text: string | undefined = typeof value === "bigint" ? String(value) : JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (error) {
    cause = error;
  }
  const rule = `the parameter ${quote(name)} must be JSON: ${messageOf(cause)}`;
  throw invalidArgument(`Cannot send the request: ${rule}`, cause);
}
