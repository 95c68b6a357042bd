import { parseBody } from "./body.ts";
import { isRestError, RestError } from "./error.ts";
import { detailsOf, type Exchange } from "./exchange.ts";
import { parseRetryAfter } from "./retry.ts";

/** The error for a status other than 2xx. A body that cannot be read does not hide the status. */
export async function httpError(
  response: Response,
  exchange: Exchange,
  maxBytes: number,
): Promise<RestError> {
  const { status, headers } = response;
  const body = await parseBody(response, exchange, maxBytes).catch((error: unknown) =>
    isRestError(error) ? error.body : null,
  );
  const retryAfter = status === 429 || status === 503 ? parseRetryAfter(headers.get("retry-after")) : null;
  const message = `${exchange.method} ${exchange.url} failed: HTTP ${status}${meaningOf(status, retryAfter)}`;
  return new RestError("http", message, { ...detailsOf(response, exchange), body, retryAfter });
}

function meaningOf(status: number, retryAfter: number | null): string {
  const when = retryAfter === null ? "with exponential backoff" : `after ${retryAfter} seconds`;
  if (status === 401) return " (authentication failed)";
  if (status === 429) return ` (rate limit exceeded; retry ${when})`;
  return status >= 500 ? " (server error)" : "";
}
