/**
 * Closes HTTP/1.1 connections that have no request in progress for too long, where the server of the runtime does not:
 * Bun's has no timeout for headers on connections that were handed to it.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { headersMs, idleMs } from "./options.ts";

export interface IdleWatch {
  add(socket: Socket): void;
}

const checkMs = 5_000;

export function closeWithoutRequest(http1: Server): IdleWatch {
  /** The time by which the head of the next request must be complete. */
  const deadlines = new Map<Socket, number>();
  http1.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
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
