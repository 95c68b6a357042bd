/**
 * Where a request comes from. On Deno, HTTP/1.1 reaches its server through a loopback connection (see `http1Handover`),
 * whose other end is this process: the port of that end tells whose connection it carries.
 */
import type { Socket } from "node:net";

/** Address of the outer connection by the local port of the inner one. */
const carried = new Map<number, string>();

/** Notes whose connection an inner one carries, until that ends. */
export function carry(inner: Socket, outer: Socket): void {
  const address = outer.remoteAddress;
  inner.once("connect", () => {
    const port = inner.localPort;
    if (port === undefined || address === undefined) return;
    carried.set(port, address);
    inner.once("close", () => carried.delete(port));
  });
}

/** The sender's address; undefined once his connection is gone. */
export function senderAddress(socket: { remoteAddress?: string; remotePort?: number }): string | undefined {
  const { remoteAddress, remotePort } = socket;
  return (remotePort === undefined ? undefined : carried.get(remotePort)) ?? remoteAddress;
}
