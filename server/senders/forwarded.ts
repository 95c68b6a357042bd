/**
 * Reads the addresses that proxies added to a request. Each proxy appends the address of its own peer, so that the last
 * address comes from the nearest proxy, and the first ones may be invented by the sender.
 */
import { plainAddress } from "./address.ts";

/** The address that one proxy saw; null when it did not tell (`unknown`, `_hidden`) or the text is no address. */
export type Node = string | null;

/** Longer headers name no sender. */
export const maxForwardedLength = 4096;

/** The nodes of `X-Forwarded-For`, nearest last. Some proxies add ports. */
export function readXForwardedFor(header: string): Node[] {
  if (header.length > maxForwardedLength) return [null];
  return header
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")
    .map(readNode);
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** An optional pair and its delimiter. */
const pair = new RegExp(`[ \\t]*(?:(${token})=(${token}|"(?:[^"\\\\]|\\\\.)*"))?[ \\t]*([;,]|$)`, "y");

/**
 * The nodes of `Forwarded` (RFC 7239), nearest last. One syntax error makes the whole value unreadable: a quotation mark
 * that the sender left open changes the meaning of what proxies append.
 */
export function readForwarded(header: string): Node[] {
  if (header.length > maxForwardedLength) return [null];
  const nodes: Node[] = [];
  let node: Node | undefined;
  let isEmpty = true;
  for (let at = 0; ; at = pair.lastIndex) {
    pair.lastIndex = at;
    const match = pair.exec(header);
    if (match === null) return [null];
    const [, name, value = "", delimiter] = match;
    if (name !== undefined) isEmpty = false;
    if (name?.toLowerCase() === "for") {
      if (node !== undefined) return [null];
      node = readNode(unquote(value));
    }
    if (delimiter === ";") continue;
    if (!isEmpty) nodes.push(node ?? null);
    if (delimiter !== ",") return nodes;
    node = undefined;
    isEmpty = true;
  }
}

/** An IPv4 address, or an IPv6 address with or without brackets, each with an optional port. */
function readNode(text: string): Node {
  const [, bracketed] = /^\[([^\]]*)\](?::[\w.-]+)?$/.exec(text) ?? [];
  if (bracketed !== undefined) return bracketed.includes(":") ? plainAddress(bracketed) : null;
  const [, v4] = /^([\d.]+):[\w.-]+$/.exec(text) ?? [];
  return plainAddress(v4 ?? text);
}

function unquote(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, "$1") : value;
}
