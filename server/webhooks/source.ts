/** Checks the address of a sender against `allow_from` of the webhook. */
import { BlockList, isIPv6 } from "node:net";
import { parseRange } from "../../project/address-range.ts";
import type { WebhookDefinition } from "../../project/definition.ts";

const lists = new WeakMap<WebhookDefinition, BlockList>();

/** @param address - of `Senders.addressOf` */
export function isAllowedSource(definition: WebhookDefinition, address: string | undefined): boolean {
  const { allowFrom } = definition;
  if (allowFrom === undefined) return true;
  if (address === undefined) return false;
  let list = lists.get(definition);
  if (list === undefined) {
    list = listOf(allowFrom);
    lists.set(definition, list);
  }
  return list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of ranges) {
    const range = parseRange(text);
    if (range !== null) list.addSubnet(range.address, range.prefix, range.family === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
