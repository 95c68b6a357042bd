import { isIPv6 } from "node:net";

/**
 * The hosts that a project's `network` key allows: `api.github.com`, `*.stripe.com` (any subdomain, not `stripe.com`
 * itself), an address, each with an optional port (`db.example.com:5432`).
 */
export interface HostPattern {
  /** Lower case, without the leading `*.` and without brackets. */
  host: string;
  subdomains: boolean;
  /** Null allows every port. */
  port: number | null;
}

/** The rule of {@link parseHostPattern}, for messages. */
export const hostPatternRule =
  'a host such as "api.github.com", "*.stripe.com" or "db.example.com:5432", without a scheme or a path';

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const pattern = new RegExp(`^(\\*\\.)?(${label}(?:\\.${label})*|\\[[0-9a-f:.]+\\])(?::([0-9]{1,5}))?$`);

/** Returns null for a text that is not a host pattern. */
export function parseHostPattern(text: string): HostPattern | null {
  const match = text.length > 260 ? null : pattern.exec(text.toLowerCase());
  if (match === null) return null;
  const [, wildcard, host = "", portText] = match;
  const port = portText === undefined ? null : Number(portText);
  if (port !== null && (port < 1 || port > 65_535)) return null;
  if (host.startsWith("[") && (wildcard !== undefined || !isIPv6(unbracketed(host)))) return null;
  return { host: unbracketed(host), subdomains: wildcard !== undefined, port };
}

export function isAllowedHost(patterns: readonly HostPattern[], host: string, port: number): boolean {
  const name = unbracketed(host.toLowerCase()).replace(/\.$/, "");
  return patterns.some(
    (allowed) =>
      (allowed.port === null || allowed.port === port) &&
      (allowed.subdomains ? name.endsWith(`.${allowed.host}`) : name === allowed.host),
  );
}

function unbracketed(host: string): string {
  return host.startsWith("[") ? host.slice(1, -1) : host;
}
