/** The one form in which addresses are compared. */
import { isIPv4, isIPv6 } from "node:net";

/**
 * An IPv4 address as it is, an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2) as IPv4, and any other IPv6 address
 * shortened (RFC 5952) and without its zone. Null for a text that is no address.
 */
export function plainAddress(text: string): string | null {
  if (isIPv4(text)) return text;
  if (text.startsWith("::ffff:") && isIPv4(text.slice(7))) return text.slice(7);
  const [address = ""] = text.split("%", 1);
  if (!isIPv6(address)) return null;
  const short = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(short) ?? [];
  if (high === undefined || low === undefined) return short;
  const bits = Number.parseInt(high, 16) * 2 ** 16 + Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join(".");
}
