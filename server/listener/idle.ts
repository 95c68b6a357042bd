/**
 * Closes HTTP/1.1 connections that have no request in progress for too long, where the server of the runtime does not:
 * Bun has no timeout for headers on connections that were handed over, and neither Bun nor Deno has one under TLS.
 */
import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { headersMs } from "./options.ts";

export interface IdleWatch {
  add(socket: Socket): void;
}

const checkMs = 5_000;

export function closeWithoutRequest(server: EventEmitter, idleMs: number): IdleWatch {
  /** The time by which the head of the next request must be complete. */
  const deadlines = new Map<Socket, number>();
  server.on("request", ({ socket, httpVersionMajor }: IncomingMessage, response: ServerResponse) => {
    if (httpVersionMajor > 1) return;
    deadlines.delete(socket);
    response.once("finish", () => {
      if (!socket.destroyed) deadlines.set(socket, performance.now() + idleMs);
    });
  });
  setInterval(() => {
    const now = performance.now();
    for (const [socket, deadline] of deadlines) if (now > deadline) socket.destroy();
  }, checkMs).unref();
  return {
    add(socket) {
      deadlines.set(socket, performance.now() + headersMs);
      socket.once("close", () => deadlines.delete(socket));
    },
  };
}
