/**
 * Writes the messages of a stream. Messages that follow each other without waiting for an event leave in one write: a write
 * for each took more time than the messages.
 */
import type { Response } from "./answer.ts";

const maxBytes = 64 * 1024;

export class StreamWriter {
  readonly #response: Response;
  #messages: Uint8Array[] = [];
  #bytes = 0;
  /** Set while the client must catch up. */
  #caughtUp: PromiseWithResolvers<void> | null = null;
  #isClosed = false;

  constructor(response: Response) {
    this.#response = response;
    response.on("drain", () => this.#resume());
    response.once("close", () => {
      this.#isClosed = true;
      this.#resume();
    });
  }

  /** Whether the client has disconnected, or the stream has ended. */
  get isClosed(): boolean {
    return this.#isClosed || this.#response.destroyed;
  }

  /** @returns a promise when the client must catch up before the next message */
  write(message: Uint8Array): Promise<void> | null {
    if (this.#messages.length === 0) process.nextTick(() => this.flush());
    this.#messages.push(message);
    this.#bytes += message.byteLength;
    if (this.#bytes >= maxBytes) this.flush();
    return this.#caughtUp?.promise ?? null;
  }

  flush(): void {
    const messages = this.#messages;
    const [first] = messages;
    if (first === undefined) return;
    this.#messages = [];
    this.#bytes = 0;
    if (this.isClosed) return;
    const isTaken = this.#response.write(messages.length === 1 ? first : Buffer.concat(messages));
    if (!isTaken) this.#caughtUp ??= Promise.withResolvers();
  }

  #resume(): void {
    this.#caughtUp?.resolve();
    this.#caughtUp = null;
  }
}
