/**
 * Responses that users' code sets with `ctx.respond`. A runner builds and checks them, and the server checks them again:
 * users' code could send anything. The page of a response shares its origin with the API and the console.
 */
import { toJson } from "./output.ts";

/** A response to the webhook request that started the execution. */
export interface AttemptResponse {
  /** 200 to 599. */
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

/** Bytes of a response as JSON. */
export const maxResponseBytes: number = 2 ** 20;

const maxHeaders = 64;
const maxHeaderLength = 4096;

/** Statuses that HTTP defines without a body (RFC 9110, section 15). */
const withoutBody = new Set([204, 205, 304]);

/** Header names that a response may not have, by the reason. */
const refusedNames: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:connection|keep-alive|proxy-(?:connection|authenticate|authorization)|te|trailer|transfer-encoding|upgrade|http2-settings|content-length|content-encoding|date|expect)$/,
    "belongs to the connection, which the server controls",
  ],
  [
    /^(?:set-cookie2?|clear-site-data|strict-transport-security|public-key-pins(?:-report-only)?|expect-ct|alt-svc|service-worker-allowed|nel|report-to|reporting-endpoints|accept-ch|critical-ch|origin-agent-cluster|origin-trial|speculation-rules|supports-loading-mode)$/,
    "applies to the whole origin, which the API shares",
  ],
  [/^(?:content-security-policy(?:-report-only)?|x-content-type-options)$/, "is set by the server"],
  [
    /^(?:x-accel-.*|x-sendfile(?:-type)?|x-lighttpd-send-file|x-reproxy-url|surrogate-.*|cdn-.*|cloudflare-cdn-.*)$/,
    "is an instruction to a proxy",
  ],
];

/**
 * Checks and encodes the argument of `ctx.respond`. A body that is not text becomes JSON.
 *
 * @throws TypeError or OutputError for a value that cannot be a response
 */
export function toResponse(value: unknown, maxDepth: number): AttemptResponse {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError("Cannot respond: the response must be an object of status, headers and body");
  }
  const { status = 200, headers = {}, body, ...unknown } = value as Record<string, unknown>;
  const [name] = Object.keys(unknown);
  if (name !== undefined) {
    throw new TypeError(`Cannot respond: a response has status, headers and body, but no ${name}`);
  }
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) {
    throw new TypeError("Cannot respond: headers must be an object of texts");
  }
  const named = new Map<string, string>();
  for (const [name, text] of Object.entries(headers)) {
    if (typeof text !== "string") throw new TypeError(`Cannot respond: the header ${name} must be a text`);
    named.set(name.toLowerCase(), text);
  }
  const isText = typeof body === "string";
  const text = isText ? body : body === undefined ? "" : toJson(body, "the body", maxResponseBytes, maxDepth);
  if (text !== "" && !named.has("content-type")) {
    named.set("content-type", isText ? "text/plain; charset=utf-8" : "application/json");
  }
  const response = { status: status as number, headers: Object.fromEntries(named), body: text };
  const problem = responseProblem(response);
  if (problem !== null) throw new TypeError(`Cannot respond: ${problem}`);
  return response;
}

/** The rule that a response violates, as a clause; null for a valid response. */
export function responseProblem(response: AttemptResponse): string | null {
  const { status, headers, body } = response;
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    return "the status must be a whole number from 200 to 599";
  }
  if (withoutBody.has(status) && body !== "") return `the status ${status} must not have a body`;
  const names = Object.keys(headers);
  if (names.length > maxHeaders) return `it may have ${maxHeaders} headers, but has ${names.length}`;
  for (const name of names) {
    const problem = headerProblem(name, headers[name] ?? "");
    if (problem !== null) return problem;
  }
  const bytes = Buffer.byteLength(JSON.stringify(response));
  if (bytes > maxResponseBytes) return `it may have ${maxResponseBytes} bytes as JSON, but has ${bytes}`;
  return null;
}

function headerProblem(name: string, value: string): string | null {
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,64}$/.test(name)) {
    return `the name of a header must be at most 64 characters of a token, not ${JSON.stringify(name.slice(0, 80))}`;
  }
  const refused = refusedNames.find(([pattern]) => pattern.test(name));
  if (refused !== undefined) return `the header ${name} ${refused[1]}`;
  if (value.length > maxHeaderLength) {
    return `the header ${name} may have ${maxHeaderLength} characters, but has ${value.length}`;
  }
  // No line ends: they would begin another header.
  if (!/^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/.test(value)) {
    return `the header ${name} must be printable ASCII without line ends and surrounding blanks`;
  }
  return null;
}
