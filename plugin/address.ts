/**
 * Which IP addresses are public. Sources: the IANA special-purpose address registries (RFC 6890 and its updates) for
 * IPv4 and IPv6, RFC 4291 for IPv6 formats, RFC 6052 for NAT64, RFC 3056 for 6to4, and the documentation of the cloud
 * providers for metadata addresses.
 */

/** 4 or 16 bytes. */
type AddressBytes = Uint8Array;

export interface AddressBlock {
  bytes: AddressBytes;
  prefixBits: number;
  /** What the block is, as it reads after "is". */
  kind: string;
}

const specialIpv4: AddressBlock[] = [
  block("0.0.0.0/8", "an address of this network"),
  block("10.0.0.0/8", "a private address"),
  block("100.64.0.0/10", "a shared carrier address"),
  block("127.0.0.0/8", "a loopback address"),
  block("169.254.0.0/16", "a link-local address"),
  block("172.16.0.0/12", "a private address"),
  block("192.0.0.0/24", "a protocol assignment"),
  block("192.0.2.0/24", "a documentation address"),
  block("192.88.99.0/24", "a 6to4 relay"),
  block("192.168.0.0/16", "a private address"),
  block("198.18.0.0/15", "a benchmarking address"),
  block("198.51.100.0/24", "a documentation address"),
  block("203.0.113.0/24", "a documentation address"),
  block("224.0.0.0/4", "a multicast address"),
  block("240.0.0.0/4", "a reserved address"),
];

/** Of IPv6 only 2000::/3 is handed out for the Internet; what lies outside is refused whole, with its name here. */
const globalUnicast: AddressBlock = block("2000::/3", "a public address");
const specialIpv6: AddressBlock[] = [
  block("::/128", "the unspecified address"),
  block("::1/128", "a loopback address"),
  block("::ffff:0:0/96", "an IPv4-mapped address"),
  block("64:ff9b:1::/48", "a local NAT64 address"),
  block("fc00::/7", "a unique-local address"),
  block("fe80::/10", "a link-local address"),
  block("ff00::/8", "a multicast address"),
  block("2001::/23", "a protocol assignment"),
  block("2001:db8::/32", "a documentation address"),
  block("2002::/16", "a 6to4 address"),
  block("3fff::/20", "a documentation address"),
];

const nat64: AddressBlock = block("64:ff9b::/96", "a NAT64 address");

/** Where clouds answer with the credentials of the machine that asks. */
const metadata: AddressBlock[] = [
  "169.254.169.254/32", // AWS, Azure, Google, DigitalOcean, Oracle, OpenStack
  "169.254.169.253/32", // AWS resolver
  "169.254.170.2/32", // AWS container credentials
  "169.254.170.23/32", // AWS pod identity
  "100.100.100.200/32", // Alibaba
  "168.63.129.16/32", // Azure WireServer; a public address
  "192.0.0.192/32", // Oracle, classic
  "fd00:ec2::254/128", // AWS
  "fd00:ec2::253/128", // AWS resolver
  "fd00:ec2::23/128", // AWS pod identity
  "fd20:ce::254/128", // Google
  "fe80::a9fe:a9fe/128", // OpenStack
].map((cidr) => block(cidr, "a metadata address"));

/**
 * Why an address is not public, as it reads after "is", or null for a public one. IPv6 addresses that carry an IPv4
 * address are judged by it too.
 *
 * @param address - as a resolver returns it; anything else is refused
 */
export function specialAddress(address: string): string | null {
  const bytes = parseAddress(address);
  if (!bytes) return "not an IP address";
  if (metadataIn(bytes)) return "a metadata address";
  if (bytes.length === 4) return kindIn(specialIpv4, bytes);
  if (contains(nat64, bytes)) return kindIn(specialIpv4, bytes.subarray(12));
  return kindIn(specialIpv6, bytes) ?? (contains(globalUnicast, bytes) ? null : "an unassigned address");
}

/** Whether an address, or the IPv4 address that it carries, is one where a cloud hands out credentials. */
export function isMetadataAddress(address: string): boolean {
  const bytes = parseAddress(address);
  return bytes !== null && metadataIn(bytes);
}

/** Whether an address is in one of the blocks. */
export function inBlocks(blocks: readonly AddressBlock[], address: string): boolean {
  const bytes = parseAddress(address);
  return bytes !== null && kindIn(blocks, bytes) !== null;
}

/** An address or a CIDR block (RFC 4632) from text, or null when it is neither. */
export function parseBlock(text: string, kind: string): AddressBlock | null {
  const [address = "", prefix, ...rest] = text.split("/");
  const bytes = parseAddress(address);
  if (!bytes || rest.length > 0) return null;
  const prefixBits = prefix === undefined ? bytes.length * 8 : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  return prefixBits >= 0 && prefixBits <= bytes.length * 8 ? { bytes, prefixBits, kind } : null;
}

/** The bytes of an IPv4 or IPv6 address in the usual spelling, a zone index aside; null for anything else. */
export function parseAddress(text: string): AddressBytes | null {
  const address = text.split("%", 1)[0] ?? "";
  return address.includes(":") ? parseIpv6(address) : parseIpv4(address);
}

function parseIpv4(text: string): AddressBytes | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) {
    return null;
  }
  return Uint8Array.from(parts, Number);
}

function parseIpv6(text: string): AddressBytes | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const head = groupBytes(halves[0] ?? "");
  const tail = halves.length === 2 ? groupBytes(halves[1] ?? "") : [];
  if (!head || !tail) return null;
  const zeros = 16 - head.length - tail.length;
  if (halves.length === 2 ? zeros < 2 : zeros !== 0) return null;
  return Uint8Array.from([...head, ...new Array<number>(zeros).fill(0), ...tail]);
}

/** Bytes of groups between colons, the last of which may be an IPv4 address. */
function groupBytes(text: string): number[] | null {
  if (text === "") return [];
  const bytes: number[] = [];
  const groups = text.split(":");
  for (const [index, group] of groups.entries()) {
    const ipv4 = index === groups.length - 1 && group.includes(".") ? parseIpv4(group) : null;
    if (ipv4) bytes.push(...ipv4);
    else if (/^[0-9a-f]{1,4}$/i.test(group))
      bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255);
    else return null;
  }
  return bytes;
}

function metadataIn(bytes: AddressBytes): boolean {
  if (kindIn(metadata, bytes)) return true;
  const ipv4 = carriedIpv4(bytes);
  return ipv4 !== null && kindIn(metadata, ipv4) !== null;
}

/** The IPv4 address inside a mapped, compatible, NAT64 or 6to4 address. */
function carriedIpv4(bytes: AddressBytes): AddressBytes | null {
  if (bytes.length !== 16) return null;
  if (bytes[0] === 0x20 && bytes[1] === 0x02) return bytes.subarray(2, 6);
  const mapped = bytes[10] === 255 && bytes[11] === 255;
  const zeros = mapped ? 10 : 12;
  return contains(nat64, bytes) || bytes.subarray(0, zeros).every((byte) => byte === 0)
    ? bytes.subarray(12)
    : null;
}

function kindIn(blocks: readonly AddressBlock[], bytes: AddressBytes): string | null {
  return blocks.find((candidate) => contains(candidate, bytes))?.kind ?? null;
}

function contains(candidate: AddressBlock, bytes: AddressBytes): boolean {
  if (candidate.bytes.length !== bytes.length) return false;
  for (let bit = 0; bit < candidate.prefixBits; bit += 8) {
    const mask = candidate.prefixBits - bit >= 8 ? 255 : (255 << (8 - (candidate.prefixBits - bit))) & 255;
    if ((((candidate.bytes[bit / 8] ?? 0) ^ (bytes[bit / 8] ?? 0)) & mask) !== 0) return false;
  }
  return true;
}

function block(cidr: string, kind: string): AddressBlock {
  const parsed = parseBlock(cidr, kind);
  if (!parsed) throw new TypeError(`${cidr} is not an address block`);
  return parsed;
}
