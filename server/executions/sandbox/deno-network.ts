/**
 * The network policy as flags of Deno. `--deny-net` takes IPv4 ranges and single IPv6 addresses, applies to the addresses
 * that names resolve to, and overrides `--allow-net`. It takes no IPv6 ranges: of those only the addresses of this machine
 * and of cloud metadata services are denied one by one.
 */

import type { HostPattern } from "../../../project/hosts.ts";
import type { RunnerNetwork } from "../../config/runner-network.ts";
import { closedRanges, ownAddresses, parseRanges } from "./addresses.ts";

const ipv6Metadata: readonly string[] = ["::1", "fd00:ec2::254", "fd20:ce::254"];

/** @param hosts - of the project's `network` key; null allows every host */
export function denoNetworkFlags(network: RunnerNetwork, hosts: readonly HostPattern[] | null): string[] {
  const allow =
    hosts === null ? "--allow-net" : hosts.length === 0 ? null : `--allow-net=${hosts.map(toDeno).join(",")}`;
  if (allow === null) return [];
  if (network === "all") return [allow];
  const opened = parseRanges(network);
  const openedIpv4 = opened.filter(({ family }) => family === 4).map(toBlock);
  const openedIpv6 = new Set(opened.filter(({ family }) => family === 6).map(({ address }) => address));
  const closed = parseRanges([...closedRanges, ...ownAddresses()]);
  const closedIpv4 = closed
    .filter(({ family }) => family === 4)
    .flatMap((range) => without(toBlock(range), openedIpv4));
  const closedIpv6 = [
    ...ipv6Metadata,
    "::",
    ...closed.filter(({ prefix }) => prefix === 128).map(({ address }) => address),
  ];
  const denied = [
    ...closedIpv4.map(blockText),
    ...closedIpv6.filter((address) => !openedIpv6.has(address)).map((address) => `[${address}]`),
  ];
  return [allow, `--deny-net=${[...new Set(denied)].join(",")}`];
}

function toDeno({ host, subdomains, port }: HostPattern): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `${subdomains ? "*." : ""}${name}${port === null ? "" : `:${port}`}`;
}

/** An IPv4 range as its first address and the number of its leading bits. */
interface Block {
  start: number;
  prefix: number;
}

function toBlock({ address, prefix }: { address: string; prefix: number }): Block {
  const value = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - prefix);
  return { start: Math.floor(value / size) * size, prefix };
}

/** The parts of a range that lie outside every opened range. */
function without(block: Block, opened: readonly Block[]): Block[] {
  const size = 2 ** (32 - block.prefix);
  const inside = (inner: Block, outer: Block): boolean =>
    inner.prefix >= outer.prefix &&
    inner.start >= outer.start &&
    inner.start < outer.start + 2 ** (32 - outer.prefix);
  if (opened.some((range) => inside(block, range))) return [];
  if (!opened.some((range) => inside(range, block))) return [block];
  const half = { start: block.start, prefix: block.prefix + 1 };
  return [
    ...without(half, opened),
    ...without({ start: block.start + size / 2, prefix: block.prefix + 1 }, opened),
  ];
}

function blockText({ start, prefix }: Block): string {
  const bytes = [24, 16, 8, 0].map((shift) => Math.floor(start / 2 ** shift) % 256);
  return `${bytes.join(".")}/${prefix}`;
}
