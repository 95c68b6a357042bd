/** IP addresses and CIDR ranges. */
import { isIP } from "node:net";

export interface AddressRange {
  address: string;
  prefix: number;
  family: 4 | 6;
}

/** Returns null for a text that is neither an address nor a CIDR range. */
export function parseRange(text: string): AddressRange | null {
  const [address = "", prefixText, rest] = text.split("/");
  const family = isIP(address);
  const bits = family === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? bits : Number(prefixText);
  const valid = family !== 0 && rest === undefined && /^\d{1,3}$/.test(prefixText ?? "0") && prefix <= bits;
  return valid ? { address, prefix, family: family === 4 ? 4 : 6 } : null;
}
