/** Answers bytes that are not a valid HTTP/1.1 request. */
import type { Socket } from "node:net";
import { maxHeaderBytes } from "./options.ts";

export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, reason, code, message] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? [
          431,
          "Request Header Fields Too Large",
          "resource_exhausted",
          `The headers must not exceed ${maxHeaderBytes} bytes.`,
        ]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? [408, "Request Timeout", "deadline_exceeded", "The request did not arrive in time."]
        : [400, "Bad Request", "invalid_argument", "The request is not valid HTTP."];
  answer(socket, `${status} ${reason}`, { code, message });
}

/** The header would have to be read before TLS and HTTP; `X-Forwarded-For` and `Forwarded` tell the same. */
export function refuseProxyProtocol(socket: Socket): void {
  const message =
    "The PROXY protocol is not supported: configure the proxy to send X-Forwarded-For, and set SVC_TRUSTED_PROXIES.";
  answer(socket, "400 Bad Request", { code: "invalid_argument", message });
  // Unread data would turn the end into a reset.
  socket.resume();
}

function answer(socket: Socket, status: string, error: { code: string; message: string }): void {
  const body = JSON.stringify(error);
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    // The client may keep its half of the connection open.
    () => socket.destroySoon(),
  );
}
