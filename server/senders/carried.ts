/**
 * The address at the other end of a connection. On Deno, an HTTP/1.1 request reaches its server through an inner loopback
 * connection (see `http1Handover`). The local port of the inner connection identifies the outer one.
 */
import type { Socket } from "node:net";

/** Address of the outer connection by the local port of the inner one. */
const carried = new Map<number, string>();

/** Records the outer connection of an inner one until the inner one closes. */
export function carry(inner: Socket, outer: Socket): void {
  const address = outer.remoteAddress;
  inner.once("connect", () => {
    const port = inner.localPort;
    if (port === undefined || address === undefined) return;
    carried.set(port, address);
    inner.once("close", () => carried.delete(port));
  });
}

/** The address of the peer; undefined once the connection is closed. */
export function peerAddress(socket: { remoteAddress?: string; remotePort?: number }): string | undefined {
  const { remoteAddress, remotePort } = socket;
  return (remotePort === undefined ? undefined : carried.get(remotePort)) ?? remoteAddress;
}
