import { UsageError } from "../app/errors.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";

/**
 * Checks the address of a service.
 *
 * @returns it without a trailing slash
 * @throws UsageError
 */
export function readBaseUrl(source: string, text: string): string {
  const url = httpUrl(source, text);
  if (!url.endsWith("/env")) return url;
  throw new UsageError(
    `${source} must name an environment after /env/, not "${sanitizeLine(text)}".`,
    `Example: ${url}/staging, or ${url.slice(0, -"/env".length)} for production`,
  );
}

/** Checks a URL. @returns it without a trailing slash @throws UsageError */
export function httpUrl(source: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (
    url === null ||
    !isHttp ||
    [url.username, url.password, url.search, url.hash].some((part) => part !== "")
  ) {
    throw new UsageError(
      `${source} must be an http or https URL without user, query and fragment, not "${sanitizeLine(text)}".`,
      "Example: http://127.0.0.1:7070",
    );
  }
  return url.href.replace(/\/+$/, "");
}
