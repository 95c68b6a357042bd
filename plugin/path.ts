import { invalidArgument, quote, type RestError } from "./error.ts";

/** A checked base URL. */
export interface BaseUrl {
  /** Scheme, host and port, as the URL standard writes an origin. */
  origin: string;
  /** Host without brackets and port. */
  hostname: string;
  /** The whole, without a slash at its end. */
  href: string;
  /** Path that every request's path begins with; ends in a slash. */
  prefix: string;
}

/** Values of a query string: `undefined` and `null` are left out, arrays repeat the name, objects become JSON. */
export type QueryParams = Record<string, unknown>;

/**
 * Checks a base URL: `http` or `https`, no user name or password, no query, no fragment.
 *
 * @throws RestError `invalid_argument`
 */
export function parseBaseUrl(baseUrl: string): BaseUrl {
  const url = typeof baseUrl === "string" ? URL.parse(baseUrl) : null;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) {
    const shown = url ? quote(baseUrl) : typeof baseUrl === "string" ? "text that is no URL" : quote(baseUrl);
    throw invalidArgument(`Cannot use the baseUrl: it must be an absolute http or https URL, got ${shown}`);
  }
  if (url.username || url.password) {
    throw invalidArgument(
      "Cannot use the baseUrl: it must hold no user name or password; pass apiKey instead",
    );
  }
  if (/[?#]/.test(baseUrl)) {
    throw invalidArgument(
      `Cannot use the baseUrl: it must hold no query and no fragment, got ${quote(url.href)}`,
    );
  }
  const path = url.pathname.replace(/\/+$/, "");
  return {
    origin: url.origin,
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    href: url.origin + path,
    prefix: `${path}/`,
  };
}

/**
 * Appends a path, which may end in a query, to the base URL. The path is always below the base URL: whatever could
 * lead elsewhere, by the URL standard or by the habits of servers that decode once more, is refused.
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
  const rule = brokenRule(path, pathname);
  if (rule) throw badPath(path, rule);
  const relative = pathname.startsWith("/") ? pathname.slice(1) : pathname;
  const query = queryOf(question < 0 ? "" : path.slice(question + 1), params);
  const url = URL.parse((pathname === "" ? base.href : `${base.href}/${relative}`) + query);
  const below =
    url?.origin === base.origin &&
    url.username === "" &&
    url.password === "" &&
    `${url.pathname}/`.startsWith(base.prefix);
  if (!below) throw badPath(path, "it must stay below the base URL");
  return url.href;
}

/** Most paths: nothing in them means anything to a URL, a segment that begins with a dot aside. */
const plainPath = /^\/?[\w~-][\w.~/-]*$/;

/** The rule that a path breaks, or null. */
function brokenRule(path: string, pathname: string): string | null {
  if (!path.isWellFormed()) return "it must be well-formed Unicode";
  if (hasControl(path)) return "it must hold no control characters";
  if (path.trim() !== path || pathname.trim() !== pathname)
    return "it must not begin or end with white space";
  if (path.includes("\\")) return "it must hold no backslash";
  if (path.includes("#")) return "it must hold no fragment; write # as %23";
  if (pathname.startsWith("//")) return "it must not begin with //";
  if (/^[a-z][a-z0-9+.-]*:/i.test(pathname)) return "it must not be an absolute URL";
  if (/^[^/]*@/.test(pathname)) return "it must hold no user name; begin it with / when it is a path";
  return pathname.includes("%") || pathname.includes("..") || /[^\x20-\x7e]/.test(pathname)
    ? brokenEncodedRule(pathname)
    : null;
}

/** Judges what the path says after each round of decoding, since a server behind a proxy may decode again. */
function brokenEncodedRule(pathname: string): string | null {
  let decoded = pathname;
  for (let round = 0; round < 8; round++) {
    if (hasControl(decoded)) return "it must hold no encoded control characters";
    if (round > 0 && decoded.includes("\\")) return "it must hold no encoded backslash";
    if (decoded.startsWith("//")) return "it must not begin with an encoded //";
    if (climbs(decoded) || climbs(decoded.normalize("NFKC")))
      return "it must hold no .. segment, plain or encoded";
    if (/%(?:c[01]|e0%[89]|f0%8)/i.test(decoded)) return "it must hold no overlong UTF-8";
    const next = round === 0 ? decodeStrictly(decoded) : decodeAscii(decoded);
    if (next === null) return "its percent-encoding must be valid UTF-8; write % as %25";
    if (next === decoded) return null;
    decoded = next;
  }
  return "it must not be percent-encoded more than seven times";
}

/** Whether a segment is `..`, with what follows a semicolon aside, as servlet containers read it. */
function climbs(path: string): boolean {
  return path.split(/[/\\]/).some((segment) => segment.split(";", 1)[0]?.trim() === "..");
}

function decodeStrictly(text: string): string | null {
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

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  }
  return false;
}

function queryOf(given: string, params: QueryParams | undefined): string {
  if (!params) return given === "" ? "" : `?${given}`;
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
  let text: string | undefined;
  let cause: unknown;
  try {
    text = value instanceof Date || typeof value === "bigint" ? toPlain(value) : JSON.stringify(value);
  } catch (error) {
    cause = error;
  }
  if (text === undefined) {
    throw invalidArgument(`Cannot send the request: the parameter ${quote(name)} must be JSON`, cause);
  }
  return text;
}

function toPlain(value: Date | bigint): string {
  return value instanceof Date ? value.toISOString() : value.toString();
}

function badPath(path: string, rule: string): RestError {
  return invalidArgument(`Cannot use the path ${quote(path)}: ${rule}`);
}
