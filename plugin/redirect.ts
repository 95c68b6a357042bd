import { RestError, redact } from "./error.ts";
import type { FetchRequest } from "./fetch.ts";
import type { Settings } from "./settings.ts";

const maxRedirects = 5;

/** The headers that are sent to another origin; all others may identify the caller. */
const harmlessHeaders = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "content-language",
  "content-type",
  "user-agent",
]);

/**
 * Follows redirects as the Fetch standard does, within the origin or to allowed origins. `fetch` itself sends headers
 * such as `X-API-Key` to other origins.
 *
 * @returns the final response; a redirect without a Location is final
 * @throws RestError `redirect`
 */
export async function followRedirects(
  first: Response,
  settings: Settings,
  firstUrl: string,
  firstRequest: FetchRequest,
): Promise<Response> {
  let response = first;
  let url = firstUrl;
  let request = firstRequest;
  for (let redirects = 0; isRedirect(response.status); redirects++) {
    const { status, headers } = response;
    const fail = (rule: string): RestError => {
      const line = { method: firstRequest.method, url: redact(firstUrl, settings.secrets) };
      const message = `${line.method} ${line.url} was redirected (HTTP ${status}) and failed: ${rule}`;
      return new RestError("redirect", message, { ...line, status: status || null, headers });
    };
    if (status === 0) throw fail("the browser does not reveal the location");
    const location = headers.get("location");
    if (location === null) break;
    await response.body?.cancel();
    if (redirects === maxRedirects) throw fail(`at most ${maxRedirects} redirects are followed`);
    const from = new URL(url);
    const next = URL.parse(location, from);
    const rule = brokenRule(next, from, settings);
    if (!next || rule) throw fail(rule ?? "its location is not a URL");
    next.hash = "";
    request = redirected(request, status, next.origin !== from.origin);
    url = next.href;
    response = await request.fetch(url, request);
  }
  return response;
}

/** Whether a response may redirect. A browser shows only the status 0 of a redirect that it does not follow. */
export function isRedirect(status: number): boolean {
  return (
    status === 301 || status === 302 || status === 303 || status === 307 || status === 308 || status === 0
  );
}

function brokenRule(next: URL | null, from: URL, { base, redirectOrigins }: Settings): string | null {
  if (!next || !/^https?:$/.test(next.protocol)) return "its location must be an http or https URL";
  if (next.username || next.password) return "its location must not contain a user name or password";
  if (redirectOrigins === "any") {
    const downgrade = from.protocol === "https:" && next.protocol === "http:";
    return downgrade ? "a redirect from https to http is not followed" : null;
  }
  if (next.origin === base.origin || redirectOrigins.has(next.origin)) return null;
  return `it leads to another origin, ${next.origin}, which redirectOrigins does not allow`;
}

/** The redirected request. The Fetch standard decides its method and body, `harmlessHeaders` its headers. */
function redirected(request: FetchRequest, status: number, leavesOrigin: boolean): FetchRequest {
  const { method } = request;
  const becomesGet =
    status === 303 ? method !== "GET" : (status === 301 || status === 302) && method === "POST";
  const headers = new Headers();
  for (const [name, value] of request.headers) {
    const kept = (!leavesOrigin || harmlessHeaders.has(name)) && !(becomesGet && name.startsWith("content-"));
    if (kept) headers.append(name, value);
  }
  return { ...request, headers, ...(becomesGet && { method: "GET", body: null }) };
}
