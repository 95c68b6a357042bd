/** The value of SVC_TRUSTED_PROXIES: the proxies whose `Forwarded` and `X-Forwarded-For` count. */
import { BlockList, isIPv6 } from "node:net";
import { parseRange } from "../../project/address-range.ts";
import { LruCache } from "../lru.ts";
import { plainAddress } from "./address.ts";

/** @throws Error that names the value */
export function parseTrustedProxies(text: string): string[] {
  const ranges = text
    .split(",")
    .map((range) => range.trim())
    .filter((range) => range !== "");
  for (const range of ranges) {
    const parsed = parseRange(range);
    if (parsed === null) {
      throw new Error(
        `Cannot use SVC_TRUSTED_PROXIES: it must be IP addresses and CIDR ranges separated by commas, not '${range}'.`,
      );
    }
    // With every address trusted, each sender could choose its own.
    if (parsed.prefix === 0) {
      throw new Error(`Cannot use SVC_TRUSTED_PROXIES: '${range}' is every address; list the proxies only.`);
    }
    if (/^::ffff:/i.test(parsed.address)) {
      throw new Error(
        `Cannot use SVC_TRUSTED_PROXIES: write '${range}' as an IPv4 address or range, which covers both forms.`,
      );
    }
  }
  return ranges;
}

export class TrustedProxies {
  readonly isEmpty: boolean;
  readonly #list = new BlockList();
  /** A check of the list takes 2 µs, and each request needs two. */
  readonly #known = new LruCache<string, boolean>(1_000);

  /** @param ranges - addresses and CIDR ranges of `parseTrustedProxies` */
  constructor(ranges: readonly string[]) {
    this.isEmpty = ranges.length === 0;
    for (const range of ranges.map(parseRange)) {
      if (range !== null)
        this.#list.addSubnet(range.address, range.prefix, range.family === 4 ? "ipv4" : "ipv6");
    }
  }

  /** @param address - of `plainAddress` */
  has(address: string): boolean {
    if (this.isEmpty) return false;
    let isTrusted = this.#known.get(address);
    if (isTrusted === undefined) {
      isTrusted = this.#list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
      this.#known.set(address, isTrusted);
    }
    return isTrusted;
  }

  /** Whether a trusted proxy opened the connection. */
  hasPeer({ remoteAddress }: { remoteAddress?: string }): boolean {
    if (this.isEmpty || remoteAddress === undefined) return false;
    const address = plainAddress(remoteAddress);
    return address !== null && this.has(address);
  }
}
