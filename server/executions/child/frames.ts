/** Frames as bytes, as `protocol.ts` describes them. */

const headerBytes = 4;

/** @param messages - each as JSON text */
export function encodeFrame(messages: readonly string[]): Buffer {
  const body = `[${messages.join(",")}]`;
  const size = Buffer.byteLength(body);
  const frame = Buffer.allocUnsafe(headerBytes + size);
  frame.writeUInt32BE(size, 0);
  frame.write(body, headerBytes);
  return frame;
}

/**
 * Cuts a stream of bytes into the bodies of its frames.
 *
 * States: *header*, until four bytes are there; then *body*, until as many bytes are there as the header says.
 */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  /** Null in the state header. */
  #bodyBytes: number | null = null;

  /** @param maxBytes - of one body; a header that announces more is an error before any of it is held */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Takes a chunk and returns the bodies that it completes.
   *
   * @throws RangeError when a header announces more than `maxBytes`
   */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    const bodies: Buffer[] = [];
    for (;;) {
      if (this.#bodyBytes === null) {
        if (this.#bufferedBytes < headerBytes) return bodies;
        this.#bodyBytes = this.#take(headerBytes).readUInt32BE(0);
        if (this.#bodyBytes > this.#maxBytes) {
          throw new RangeError(
            `Cannot read a frame, which may have ${this.#maxBytes} bytes: this one announces ${this.#bodyBytes}`,
          );
        }
      }
      if (this.#bufferedBytes < this.#bodyBytes) return bodies;
      bodies.push(this.#take(this.#bodyBytes));
      this.#bodyBytes = null;
    }
  }

  #take(size: number): Buffer {
    let first = this.#chunks[0] ?? Buffer.alloc(0);
    if (first.length < size) {
      // Joined once for a body, whatever the number of chunks that it came in.
      first = Buffer.concat(this.#chunks);
      this.#chunks = [first];
    }
    this.#bufferedBytes -= size;
    if (first.length === size) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(size);
    return first.subarray(0, size);
  }
}

/** How much JSON text goes into one frame when several messages wait. */
const frameTextLength = 256 * 1024;

/** Collects messages and sends those of one turn of the event loop together. */
export class FrameWriter {
  readonly #write: (frame: Buffer) => void;
  #messages: string[] = [];
  #textLength = 0;

  constructor(write: (frame: Buffer) => void) {
    this.#write = write;
  }

  /** Whether anything waits to be sent. */
  get pending(): boolean {
    return this.#messages.length > 0;
  }

  /** @param message - as JSON text */
  add(message: string): void {
    if (this.#textLength + message.length > frameTextLength) this.flush();
    this.#messages.push(message);
    this.#textLength += message.length;
  }

  flush(): void {
    if (this.#messages.length === 0) return;
    const frame = encodeFrame(this.#messages);
    this.#messages = [];
    this.#textLength = 0;
    this.#write(frame);
  }
}
