/** Finds out whether a connection without TLS speaks HTTP/1.1 or HTTP/2, or starts with a header of the PROXY protocol. */
import type { Socket } from "node:net";
import { firstByteMs } from "./options.ts";

export type Protocol = "http1" | "http2" | "proxy";

/** The starts of the PROXY protocol, versions 1 and 2. */
const proxyStarts = ["PROXY ", "\r\n\r\n\0\r\nQUIT\n"];
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/**
 * Reads the first bytes and puts them back. It uses `readable`: after a `data` event the socket is in flowing mode,
 * and the HTTP/2 session would miss the bytes.
 */
export function sniff(socket: Socket, decide: (protocol: Protocol) => void): void {
  const onError = () => socket.destroy();
  socket.on("error", onError);
  socket.setTimeout(firstByteMs, onError);
  socket.once("readable", () => {
    socket.setTimeout(0);
    socket.removeListener("timeout", onError);
    const chunk: Buffer | null = socket.read();
    // The client closed without a byte, as health checks of TCP do. The socket may stay half open by itself.
    if (chunk === null) return void socket.destroy();
    socket.unshift(chunk);
    const start = chunk.toString("latin1", 0, preface.length);
    if (proxyStarts.some((known) => start.startsWith(known))) decide("proxy");
    else decide(start.length >= 3 && preface.startsWith(start) ? "http2" : "http1");
  });
}
