/**
 * Classifies IP addresses with the block lists of `node:net`. Sources: the IANA special-purpose address registries
 * (RFC 6890 and its updates), RFC 4291 for IPv6, RFC 6052 for NAT64, RFC 3056 for 6to4, and the documentation of the
 * cloud providers for metadata addresses.
 */
import type { BlockList } from "node:net";
import { builtin } from "./builtin.ts";

interface Cidr {
  address: string;
  prefixBits: number;
  family: "ipv4" | "ipv6";
}

/** Blocks of both families. They are separate because a BlockList also matches IPv4 rules with mapped addresses. */
type Blocks = Record<Cidr["family"], BlockList>;

const metadata = "a metadata address";

/** Blocks that are not public. The first match names an address. */
const specialBlocks: [kind: string, ...cidrs: string[]][] = [
  [
    metadata,
    "169.254.169.254", // AWS, Azure, Google, DigitalOcean, Oracle, OpenStack
    "169.254.169.253", // AWS resolver
    "169.254.170.2", // AWS container credentials
    "169.254.170.23", // AWS pod identity
    "100.100.100.200", // Alibaba
    "168.63.129.16", // Azure WireServer; a public address
    "192.0.0.192", // Oracle, classic
    "fd00:ec2::254", // AWS
    "fd00:ec2::253", // AWS resolver
    "fd00:ec2::23", // AWS pod identity
    "fd20:ce::254", // Google
    "fe80::a9fe:a9fe", // OpenStack
  ],
  ["a loopback address", "127.0.0.0/8", "::1"],
  ["a private address", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
  ["a unique-local address", "fc00::/7"],
  ["a link-local address", "169.254.0.0/16", "fe80::/10"],
  ["a shared carrier address", "100.64.0.0/10"],
  ["the unspecified address", "::"],
  ["an address of this network", "0.0.0.0/8"],
  ["a protocol assignment", "192.0.0.0/24", "2001::/23"],
  [
    "a documentation address",
    "192.0.2.0/24",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "2001:db8::/32",
    "3fff::/20",
  ],
  ["a 6to4 relay", "192.88.99.0/24"],
  ["a 6to4 address", "2002::/16"],
  ["a benchmarking address", "198.18.0.0/15"],
  ["a multicast address", "224.0.0.0/4", "ff00::/8"],
  ["a reserved address", "240.0.0.0/4"],
  ["an IPv4-mapped address", "::ffff:0:0/96"],
  ["a local NAT64 address", "64:ff9b:1::/48"],
];

/** Global unicast addresses, and NAT64, whose IPv4 address decides. All other IPv6 addresses are unassigned. */
const publicIpv6 = ["2000::/3", "64:ff9b::/96"];

let loaded: { special: [kind: string, blocks: Blocks][]; public: Blocks } | null = null;

/**
 * Returns why an address is not public, as a noun phrase, or null for a public address.
 *
 * @param address - address as a resolver returns it; any other text is refused
 */
export function specialAddress(address: string): string | null {
  if (builtin("node:net", "check an address").isIP(address) === 0) return "not an IP address";
  loaded ??= {
    special: specialBlocks.map(([kind, ...cidrs]) => [
      kind,
      createBlocks(cidrs.flatMap((cidr) => [cidr, ...embedded(cidr, kind)])),
    ]),
    public: createBlocks(publicIpv6),
  };
  const kind = loaded.special.find(([, blocks]) => contains(blocks, address))?.[0] ?? null;
  if (kind !== null || !address.includes(":") || contains(loaded.public, address)) return kind;
  return "an unassigned address";
}

/** Whether a cloud provider serves credentials of its machines at an address. */
export function isMetadataAddress(address: string): boolean {
  return specialAddress(address) === metadata;
}

export function createBlocks(cidrs: readonly string[]): Blocks {
  const { BlockList } = builtin("node:net", "check an address");
  const blocks = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const cidr of cidrs) {
    const parsed = parseCidr(cidr);
    if (!parsed) throw new TypeError(`${cidr} is not a CIDR block`);
    blocks[parsed.family].addSubnet(parsed.address, parsed.prefixBits, parsed.family);
  }
  return blocks;
}

/** @param address - an IP address; a zone index (`%eth0`) is ignored */
export function contains(blocks: Blocks, address: string): boolean {
  const family = address.includes(":") ? "ipv6" : "ipv4";
  return blocks[family].check(address.split("%", 1)[0] ?? "", family);
}

/** Parses an address or a CIDR block (RFC 4632); null when the text is neither. */
export function parseCidr(text: string): Cidr | null {
  const [, address = "", prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = builtin("node:net", "check an address").isIP(address);
  const maxBits = version === 4 ? 32 : 128;
  const prefixBits = prefix === undefined ? maxBits : Number(prefix);
  if (version === 0 || prefixBits > maxBits) return null;
  return { address, prefixBits, family: version === 4 ? "ipv4" : "ipv6" };
}

/** The IPv6 blocks that carry the addresses of an IPv4 block to their network. */
function embedded(cidr: string, kind: string): string[] {
  const parsed = parseCidr(cidr);
  if (parsed?.family !== "ipv4") return [];
  const { address, prefixBits } = parsed;
  const nat64 = `64:ff9b::${address}/${96 + prefixBits}`;
  if (kind !== metadata) return [nat64];
  // Other blocks of these forms are refused as a whole, by another name.
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  const sixToFour = `2002:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}::/48`;
  return [nat64, sixToFour, `::ffff:${address}`, `::${address}`];
}
