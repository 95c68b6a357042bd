/**
 * The addresses that users' code may not reach under a boundary: loopback, link-local (cloud metadata included), private,
 * shared and other special ranges of RFC 6890 and its updates.
 */
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { type AddressRange, parseRange } from "../../../project/address-range.ts";

export const closedRanges: readonly string[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/32",
  "2001:db8::/32",
  "2002::/16",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
];

/** The addresses of this machine, public ones included: its services listen there too. */
export function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.map(({ address }) => address.replace(/%.*$/, ""));
}

/** Decides whether an address is open to users' code. */
export class AddressPolicy {
  readonly #closed: BlockList = toBlockList(closedRanges);
  readonly #opened: BlockList;

  /** @param opened - addresses and CIDR ranges that the operator opens in addition */
  constructor(opened: readonly string[]) {
    this.#opened = toBlockList(opened);
  }

  isOpen(address: string): boolean {
    const family = isIP(address);
    if (family === 0) return false;
    const type = family === 4 ? "ipv4" : "ipv6";
    if (this.#opened.check(address, type)) return true;
    // Read each time: the machine may get a new address.
    return !this.#closed.check(address, type) && !toBlockList(ownAddresses()).check(address, type);
  }
}

function toBlockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const { address, prefix, family } of parseRanges(ranges)) {
    list.addSubnet(address, prefix, family === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

export function parseRanges(ranges: readonly string[]): AddressRange[] {
  return ranges.map(parseRange).filter((range) => range !== null);
}
