/**
 * Checks the `Host` of requests. A server that listens on loopback accepts its own names only: a website can have its
 * name resolved to 127.0.0.1 (DNS rebinding), and the browser of someone on this machine would send requests here with
 * that name. On other addresses every name is accepted, because the server cannot know the names that lead to it.
 */
import type { Config } from "../config.ts";
import { fail, invalid } from "../errors.ts";
import type { Request } from "./answer.ts";

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/** @returns a function that throws a ConnectError for a request whose `Host` is ambiguous or unknown */
export function createHostCheck(
  config: Pick<Config, "host" | "publicUrl" | "allowedHosts">,
): (request: Request) => void {
  const names = isLoopback(config.host) ? knownNames(config) : null;
  return (request) => {
    checkSingleHost(request);
    if (names === null) return;
    const host = requestHost(request);
    if (host === undefined || names.has(nameOf(host))) return;
    throw fail(
      "HOST_UNKNOWN",
      `The host '${nameOf(host).slice(0, 80)}' is unknown: set SVC_ALLOWED_HOSTS or --public-url to serve it.`,
    );
  };
}

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return name === "localhost" || name === "::1" || name === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(name);
}

function knownNames({ host, publicUrl, allowedHosts }: Pick<Config, "host" | "publicUrl" | "allowedHosts">) {
  const own = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  const published = publicUrl === null ? [] : [new URL(publicUrl).hostname];
  return new Set([...loopbackNames, own, ...published, ...allowedHosts].map((name) => name.toLowerCase()));
}

/** Two hosts let a proxy and the server see different ones (RFC 9112, section 3.2). */
function checkSingleHost({ rawHeaders }: Request): void {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === "host" && ++hosts > 1) {
      throw invalid("The request has more than one Host header.", { headers: { connection: "close" } });
    }
  }
}

/** The host of an absolute request target takes precedence over the header (RFC 9112, section 3.2.2). */
function requestHost(request: Request): string | undefined {
  const url = request.url ?? "/";
  if (!url.startsWith("/") && URL.canParse(url)) return new URL(url).host;
  const authority = request.headers[":authority"];
  return typeof authority === "string" ? authority : request.headers.host;
}

/** The name without the port. */
function nameOf(host: string): string {
  const colon = host.lastIndexOf(":");
  const name = colon > host.lastIndexOf("]") ? host.slice(0, colon) : host;
  return name.toLowerCase().replace(/\.$/, "");
}
