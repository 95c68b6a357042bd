/** The runner's end of the channel to the server. */
import type { Socket } from "node:net";
import { FrameReader, FrameWriter } from "./frames.ts";
import { type FromRunner, inlineOutputLength, type LogMessage, type ToRunner } from "./protocol.ts";

export interface ChannelEvents {
  onMessage(message: ToRunner): void;
  /** The server has closed the channel or ended. */
  onEnd(): void;
}

/** Log lines that are sent immediately in one turn of the event loop. Further lines wait for the end of the turn. */
const immediateLines = 16;

/** Log lines in one message. */
const linesPerMessage = 16;

/**
 * Sends the messages of one turn of the event loop together, in order. The first log lines are sent immediately: the code
 * that wrote them may block the event loop, and then they explain why.
 */
export class Channel {
  readonly #writer: FrameWriter;
  #lines: LogMessage[] = [];
  #scheduled = false;
  #immediate = immediateLines;

  constructor(socket: Socket, events: ChannelEvents) {
    this.#writer = new FrameWriter((frame) => socket.write(frame));
    // The runner trusts the server, which limits what it sends.
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

  /** Sends the pending messages and this one immediately. */
  sendNow(message: FromRunner): void {
    this.#addLines();
    this.#writer.add(JSON.stringify(message));
    this.#writer.flush();
  }

  /** Sends the outcome `done`. */
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
    if (this.#immediate > 0) {
      this.#immediate -= 1;
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
      this.#immediate = immediateLines;
      this.#flush();
    });
  }
}

/** A copy: users' code may replace the global, as test libraries do. */
const scheduleImmediate: typeof setImmediate = setImmediate;
