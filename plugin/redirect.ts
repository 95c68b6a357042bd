import { RestError } from "./error.ts";
import type { Settings } from "./settings.ts";
import type { Transport, TransportRequest } from "./transport.ts";

const maxRedirects = 5;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/** Headers that say nothing of who asks; all others stay behind when a redirect leaves the origin. */
const harmlessHeaders = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "content-language",
  "content-type",
  "user-agent",
]);

/** Whether an answer may have to be followed; status 0 is all that a browser shows of a redirect. */
export function isRedirect(status: number): boolean {
  return status === 0 || (status >= 300 && status < 400 && redirectStatuses.has(status));
}

/**
 * Follows the redirects of an answer as the Fetch standard does, but within the origin, or to origins that the settings
 * allow, and there without the headers of the caller. `fetch` itself keeps headers such as `X-API-Key` on its way to
 * another origin.
 *
 * @returns the answer at the end, which is one without a Location when the server names none
 * @throws RestError `redirect`
 */
export async function followRedirects(
  first: Response,
  transport: Transport,
  settings: Settings,
  firstUrl: string,
  firstRequest: TransportRequest,
): Promise<Response> {
  let response = first;
  let url = firstUrl;
  let request = firstRequest;
  for (let hops = 0; isRedirect(response.status); hops++) {
    const { status } = response;
    const fail = (rule: string): RestError => refused(firstRequest, firstUrl, response, rule);
    if (status === 0) throw fail("a browser does not say where it leads, so it is not followed");
    const location = response.headers.get("location");
    if (location === null) break;
    await response.body?.cancel();
    if (hops === maxRedirects) throw fail(`at most ${maxRedirects} redirects are followed`);
    const from = new URL(url);
    const next = targetOf(location, from, settings, fail);
    request = redirected(request, status, next.origin !== from.origin);
    url = next.href;
    response = await transport(url, request);
  }
  return response;
}

function targetOf(location: string, from: URL, settings: Settings, fail: (rule: string) => RestError): URL {
  const next = URL.parse(location, from);
  if (!next || (next.protocol !== "http:" && next.protocol !== "https:")) {
    throw fail("it does not lead to an http or https URL");
  }
  if (next.username || next.password) throw fail("its target holds a user name or password");
  if (next.origin !== settings.base.origin && !isAllowed(settings, next.origin)) {
    throw fail(`it leads to another origin, ${next.origin}, which redirectOrigins does not allow`);
  }
  if (settings.redirectOrigins === "any" && from.protocol === "https:" && next.protocol === "http:") {
    throw fail("it leads from https to http");
  }
  next.hash = "";
  return next;
}

function isAllowed({ redirectOrigins }: Settings, origin: string): boolean {
  return redirectOrigins === "any" || redirectOrigins.has(origin);
}

/** The request for the next hop: method and body by the Fetch standard, headers by `harmlessHeaders`. */
function redirected(request: TransportRequest, status: number, leavesOrigin: boolean): TransportRequest {
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

function refused(request: TransportRequest, url: string, response: Response, rule: string): RestError {
  const status = response.status || null;
  return new RestError(
    "redirect",
    `${request.method} ${url} was redirected${status ? ` (HTTP ${status})` : ""} and failed: ${rule}`,
    { status, headers: response.headers, method: request.method, url },
  );
}
