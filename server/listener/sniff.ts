/** Finds out whether a connection without TLS speaks HTTP/2. */
import type { Socket } from "node:net";
import { firstByteMs } from "./options.ts";

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/**
 * Reads the first bytes and puts them back. It uses `readable`: after a `data` event the socket is in flowing mode,
 * and the HTTP/2 session would miss the bytes.
 */
export function sniff(socket: Socket, decide: (isHttp2: boolean) => void): void {
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
    decide(start.length >= 3 && preface.startsWith(start));
  });
}
