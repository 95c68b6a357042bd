/** The connection URL of PostgreSQL. It holds a password, so that no message may contain it. */

const rule = "it must be a URL such as postgres://user:password@host:5432/database";

/** @throws Error that names the variable, the rule and the value without its password */
export function checkDatabaseUrl(value: string): string {
  if (!URL.canParse(value)) throw new Error(`Cannot use SVC_DATABASE_URL: ${rule}; the value is no URL.`);
  const url = new URL(value);
  if (url.protocol !== "postgres:" && url.protocol !== "postgresql:") {
    throw new Error(`Cannot use SVC_DATABASE_URL: ${rule}, not one that begins with '${url.protocol}'.`);
  }
  if (url.hostname === "" && !url.searchParams.has("host")) {
    throw new Error(`Cannot use SVC_DATABASE_URL: ${rule}; '${describeDatabase(value)}' has no host.`);
  }
  if (url.pathname.length < 2) {
    throw new Error(`Cannot use SVC_DATABASE_URL: ${rule}; '${describeDatabase(value)}' has no database.`);
  }
  return value;
}

/** The database in words: the URL without user, password and parameters. */
export function describeDatabase(value: string): string {
  const { protocol, host, searchParams, pathname } = new URL(value);
  return `${protocol}//${host || (searchParams.get("host") ?? "")}${pathname}`;
}
