/**
 * Disconnects HTTP/2 clients that vanished without closing their connection, or stopped reading. Their streams would run on:
 * TCP reports such a client only after minutes, and one that does not read never. While a session has open streams, each
 * PING must be acknowledged before the next one.
 */
import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";

interface State {
  socket: Socket;
  streams: number;
  acknowledged: boolean;
}

export class KeepAlive {
  readonly #intervalMs: number;
  readonly #sessions = new Map<ServerHttp2Session, State>();
  #timer: NodeJS.Timeout | null = null;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  add(session: ServerHttp2Session, socket: Socket): void {
    const state = { socket, streams: 0, acknowledged: true };
    this.#sessions.set(session, state);
    this.#timer ??= setInterval(() => this.#check(), this.#intervalMs).unref();
    session.on("stream", (stream) => {
      state.streams++;
      stream.once("close", () => state.streams--);
    });
    socket.once("close", () => this.#sessions.delete(session));
  }

  #check(): void {
    for (const [session, state] of this.#sessions) {
      const { socket } = state;
      // Deno closes a stream when its data is in the buffer of the socket.
      if (state.streams === 0 && socket.writableLength === 0) continue;
      if (!state.acknowledged || session.destroyed) {
        session.destroy();
        // The session waits until the client has read what was written.
        socket.destroy();
        continue;
      }
      state.acknowledged = false;
      session.ping((error) => {
        state.acknowledged ||= error === null;
      });
    }
  }
}
