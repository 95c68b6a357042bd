/**
 * Refuses requests of other websites: a browser sends the cookie of the console with them (cross-site request forgery).
 * Browsers set `Origin` on every request that is not GET or HEAD, and scripts cannot change it.
 */
import type { Config } from "../../config.ts";
import { fail } from "../../errors.ts";
import type { Request } from "../answer.ts";

/** @throws ConnectError `permission_denied` */
export function checkSameOrigin({ headers }: Request, { publicUrl }: Pick<Config, "publicUrl">): void {
  const { origin } = headers;
  const authority = headers[":authority"] ?? headers.host;
  const own = publicUrl === null ? [authority] : [authority, new URL(publicUrl).host];
  // A proxy may end TLS, so that the scheme is not compared.
  if (origin !== undefined && URL.canParse(origin) && own.includes(new URL(origin).host)) return;
  const text = origin === undefined ? "no origin" : `the origin '${origin.slice(0, 80)}'`;
  throw fail(
    "ORIGIN_NOT_ALLOWED",
    `The console refuses a request from ${text}: open the console at its own address.`,
  );
}
