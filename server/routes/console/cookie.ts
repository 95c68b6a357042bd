/** The cookie of a session of the console (RFC 6265). */
import type { Config } from "../../config.ts";
import type { Request } from "../answer.ts";

const name = "svc_console";
const token = /^[A-Za-z0-9_-]{43}$/;

/** Null without a well-formed cookie. */
export function sessionCookie({ headers }: Request): string | null {
  for (const pair of headers.cookie?.split(";") ?? []) {
    const [key = "", value = ""] = pair.trim().split("=", 2);
    if (key === name && token.test(value)) return value;
  }
  return null;
}

/**
 * The path is `/`, because the console is also at `/env/<environment>/console`, and a proxy may put a path before it.
 * @param value - empty to delete the cookie
 */
export function setSessionCookie(
  value: string,
  maxAgeMs: number,
  config: Pick<Config, "tls" | "publicUrl">,
): string {
  const secure = config.tls !== null || config.publicUrl?.startsWith("https:") === true;
  const age = Math.floor(maxAgeMs / 1000);
  return `${name}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
}
