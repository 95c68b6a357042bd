/** The child's side of the channel. */
import type { Socket } from "node:net";
import { FrameReader, FrameWriter } from "./frames.ts";
import type { FromChild, LogMessage, ToChild } from "./protocol.ts";

export interface ChannelEvents {
  onMessage(message: ToChild): void;
  /** The server is gone. */
  onEnd(): void;
}

/**
 * Messages of one turn of the event loop leave together, in order; successive log lines travel as one message.
 */
export class Channel {
  readonly #writer: FrameWriter;
  #logs: LogMessage[] = [];
  #scheduled = false;

  constructor(socket: Socket, events: ChannelEvents) {
    this.#writer = new FrameWriter((frame) => socket.write(frame));
    // What the server sends is bounded by the server, which this process trusts.
    const reader = new FrameReader(2 ** 32);
    socket.on("data", (chunk: Buffer) => {
      for (const body of reader.push(chunk)) {
        for (const message of JSON.parse(body.toString()) as ToChild[]) events.onMessage(message);
      }
    });
    socket.on("error", events.onEnd);
    socket.on("close", events.onEnd);
    socket.on("end", events.onEnd);
  }

  send(message: FromChild): void {
    this.#addLogs();
    this.#writer.add(JSON.stringify(message));
    this.#schedule();
  }

  log(entry: LogMessage): void {
    this.#logs.push(entry);
    this.#schedule();
  }

  /** Sends what waits, without waiting for the turn to end. */
  flush(): void {
    this.#addLogs();
    this.#writer.flush();
  }

  #addLogs(): void {
    if (this.#logs.length === 0) return;
    const entries = this.#logs;
    this.#logs = [];
    // By so many at a time, so that one message stays small whatever the length of the lines.
    for (let i = 0; i < entries.length; i += 16) {
      this.#writer.add(JSON.stringify({ t: "log", entries: entries.slice(i, i + 16) } satisfies FromChild));
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    scheduleImmediate(() => {
      this.#scheduled = false;
      this.flush();
    });
  }
}

/** Kept here, so that users' code that replaces the global (as test libraries do) does not stop the channel. */
const scheduleImmediate: typeof setImmediate = setImmediate;
