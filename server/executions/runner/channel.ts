/** The runner's side of the channel. */
import type { Socket } from "node:net";
import { FrameReader, FrameWriter } from "./frames.ts";
import { type FromRunner, inlineOutputLength, type LogMessage, type ToRunner } from "./protocol.ts";

export interface ChannelEvents {
  onMessage(message: ToRunner): void;
  /** The server is gone. */
  onEnd(): void;
}

/** So many log lines leave at once in one turn of the event loop; the further ones wait for its end. */
const promptLines = 16;

/** Log lines that travel as one message. */
const linesPerMessage = 16;

/**
 * Messages of one turn of the event loop leave together, in order. Log lines leave at once, as long as they are few: the
 * code that wrote them may never end its turn, and then they are what explains it.
 */
export class Channel {
  readonly #writer: FrameWriter;
  #lines: LogMessage[] = [];
  #scheduled = false;
  #prompt = promptLines;

  constructor(socket: Socket, events: ChannelEvents) {
    this.#writer = new FrameWriter((frame) => socket.write(frame));
    // What the server sends is bounded by the server, which this process trusts.
    const reader = new FrameReader(2 ** 32);
    socket.on("data", (chunk: Buffer) => {
      for (const { body } of reader.push(chunk)) {
        for (const message of JSON.parse(body.toString()) as ToRunner[]) events.onMessage(message);
      }
    });
    socket.on("error", events.onEnd);
    socket.on("close", events.onEnd);
    socket.on("end", events.onEnd);
  }

  send(message: FromRunner): void {
    this.#addLines();
    this.#writer.add(JSON.stringify(message));
    this.#schedule();
  }

  /** Sends a message, and what waits before it, without waiting for the turn to end. */
  sendNow(message: FromRunner): void {
    this.#addLines();
    this.#writer.add(JSON.stringify(message));
    this.#writer.flush();
  }

  /** Sends `done`. */
  sendOutput(id: string, output: string): void {
    if (output.length <= inlineOutputLength) {
      this.send({ t: "done", id, output });
    } else {
      this.#addLines();
      this.#writer.addOutput(id, output);
    }
  }

  log(line: LogMessage): void {
    this.#lines.push(line);
    this.#schedule();
    if (this.#prompt > 0) {
      this.#prompt -= 1;
      this.#flush();
    }
  }

  #flush(): void {
    this.#addLines();
    this.#writer.flush();
  }

  #addLines(): void {
    const lines = this.#lines;
    if (lines.length === 0) return;
    this.#lines = [];
    for (let i = 0; i < lines.length; i += linesPerMessage) {
      const message: FromRunner = { t: "log", entries: lines.slice(i, i + linesPerMessage) };
      this.#writer.add(JSON.stringify(message));
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    scheduleImmediate(() => {
      this.#scheduled = false;
      this.#prompt = promptLines;
      this.#flush();
    });
  }
}

/** Kept here, so that users' code that replaces the global, as test libraries do, does not stop the channel. */
const scheduleImmediate: typeof setImmediate = setImmediate;
