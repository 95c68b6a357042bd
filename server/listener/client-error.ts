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
  const body = JSON.stringify({ code, message });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    // The client may keep its half of the connection open.
    () => socket.destroySoon(),
  );
}
