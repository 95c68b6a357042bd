/**
 * Finds the sender of a request: the peer of the connection or, when the peer is a trusted proxy, the right-most address
 * of `X-Forwarded-For` or `Forwarded` that is not a trusted proxy itself.
 *
 * A proxy usually maintains one of the two headers and passes the other one on as the sender wrote it. With both headers,
 * the sender is known only when they agree: to prefer one of them would let senders choose their address behind proxies
 * that maintain the other.
 */
import type { IncomingHttpHeaders } from "node:http";
import { plainAddress } from "./address.ts";
import { peerAddress } from "./carried.ts";
import { type Node, readForwarded, readXForwardedFor } from "./forwarded.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";

/** Where a call comes from. */
export interface Sender {
  /** Null when a trusted proxy does not tell it. */
  address: string | null;
  /** Whether the request names senders, and its peer is no trusted proxy. */
  isProxyIgnored: boolean;
}

interface Connected {
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string; remotePort?: number };
}

export class Senders {
  readonly #proxies: TrustedProxies;

  constructor(proxies: TrustedProxies) {
    this.#proxies = proxies;
  }

  /** Undefined when a trusted proxy does not tell a single address, and once the connection is closed. */
  addressOf({ headers, socket }: Connected): string | undefined {
    const peer = peerAddress(socket);
    if (peer === undefined) return undefined;
    const plain = plainAddress(peer) ?? peer;
    return this.#proxies.has(plain) ? this.#forwarded(plain, headers) : plain;
  }

  senderOf(request: Connected): Sender {
    const { forwarded, "x-forwarded-for": xForwardedFor } = request.headers;
    const address = this.addressOf(request) ?? null;
    if (forwarded === undefined && xForwardedFor === undefined) return { address, isProxyIgnored: false };
    const peer = plainAddress(peerAddress(request.socket) ?? "");
    return { address, isProxyIgnored: peer !== null && !this.#proxies.has(peer) };
  }

  #forwarded(peer: string, headers: IncomingHttpHeaders): string | undefined {
    const xForwardedFor = joined(headers["x-forwarded-for"]);
    const forwarded = joined(headers.forwarded);
    const found = [
      ...(xForwardedFor === undefined ? [] : [this.#nearestUntrusted(readXForwardedFor(xForwardedFor))]),
      ...(forwarded === undefined ? [] : [this.#nearestUntrusted(readForwarded(forwarded))]),
    ].filter((node) => node !== undefined);
    const [first = peer, second = first] = found;
    return first === second ? (first ?? undefined) : undefined;
  }

  /** The first node when all are trusted proxies; undefined without nodes. */
  #nearestUntrusted(nodes: readonly Node[]): Node | undefined {
    const at = nodes.findLastIndex((node) => node === null || !this.#proxies.has(node));
    return nodes[Math.max(at, 0)];
  }
}

/** Lines of one header; each proxy may add its own. */
function joined(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(",") : header;
}
