/** The values of SVC_RUNNER_NETWORK: which addresses runners may reach under a boundary that restricts the network. */
import { isIP } from "node:net";

/** `all` restricts nothing. A list opens these addresses and CIDR ranges besides the public ones. */
export type RunnerNetwork = "all" | readonly string[];

/** @throws Error that names the value */
export function parseRunnerNetwork(text: string): RunnerNetwork {
  if (text === "all") return "all";
  if (text === "public") return [];
  const ranges = text.split(",").map((range) => range.trim());
  for (const range of ranges) {
    if (parseRange(range) !== null) continue;
    throw new Error(
      `Cannot use SVC_RUNNER_NETWORK: it must be 'public', 'all' or a list of IP addresses and CIDR ranges, not '${range}'.`,
    );
  }
  return ranges;
}

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
