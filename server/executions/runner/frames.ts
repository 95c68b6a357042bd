/** Encodes and decodes frames. `protocol.ts` describes the format. */

export const frameKinds = { messages: 0, output: 1 } as const;

export interface Frame {
  /** One of `frameKinds`, or an unknown number. */
  kind: number;
  body: Buffer;
}

/** The length of the body, and the kind. */
const headerBytes = 5;

/** @param messages - each as JSON text */
export function encodeMessages(messages: readonly string[]): Buffer {
  const body = `[${messages.join(",")}]`;
  const size = Buffer.byteLength(body);
  const frame = allocate(frameKinds.messages, size);
  frame.write(body, headerBytes);
  return frame;
}

/** Encodes an output without escaping it as a JSON string. */
export function encodeOutput(executionId: string, output: string): Buffer {
  const idBytes = Buffer.byteLength(executionId);
  const frame = allocate(frameKinds.output, 1 + idBytes + Buffer.byteLength(output));
  frame.writeUInt8(idBytes, headerBytes);
  frame.write(executionId, headerBytes + 1);
  frame.write(output, headerBytes + 1 + idBytes);
  return frame;
}

/** @returns null when the body is shorter than its header says */
export function decodeOutput(body: Buffer): { executionId: string; output: string } | null {
  const idBytes = body[0];
  if (idBytes === undefined || body.length < 1 + idBytes) return null;
  return { executionId: body.toString("utf8", 1, 1 + idBytes), output: body.toString("utf8", 1 + idBytes) };
}

function allocate(kind: number, bodyBytes: number): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + bodyBytes);
  frame.writeUInt32BE(bodyBytes, 0);
  frame.writeUInt8(kind, 4);
  return frame;
}

/**
 * Splits a stream of bytes into frames.
 *
 * States: *header*, until five bytes have arrived; then *body*, until the bytes that the header announced have arrived.
 */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  /** Null in the state *header*. */
  #expected: { kind: number; bytes: number } | null = null;

  /** @param maxBytes - of one body. A header that announces more is rejected before the body is buffered */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Adds a chunk and returns the frames that it completes.
   *
   * @throws RangeError when a header announces more than `maxBytes`
   */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    const frames: Frame[] = [];
    for (;;) {
      if (this.#expected === null) {
        if (this.#bufferedBytes < headerBytes) return frames;
        const header = this.#take(headerBytes);
        const bytes = header.readUInt32BE(0);
        if (bytes > this.#maxBytes) {
          throw new RangeError(`it sent a frame of ${bytes} bytes, over the limit of ${this.#maxBytes}`);
        }
        this.#expected = { kind: header.readUInt8(4), bytes };
      }
      if (this.#bufferedBytes < this.#expected.bytes) return frames;
      frames.push({ kind: this.#expected.kind, body: this.#take(this.#expected.bytes) });
      this.#expected = null;
    }
  }

  #take(size: number): Buffer {
    let first = this.#chunks[0] ?? Buffer.alloc(0);
    if (first.length < size) {
      // Joins the chunks of a body once.
      first = Buffer.concat(this.#chunks);
      this.#chunks = [first];
    }
    this.#bufferedBytes -= size;
    if (first.length === size) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(size);
    return first.subarray(0, size);
  }
}

/** UTF-16 units of JSON text in one frame of several messages. */
const frameTextLength = 256 * 1024;

/** Collects messages, so that the messages of one turn of the event loop share a frame. */
export class FrameWriter {
  readonly #write: (frame: Buffer) => void;
  #messages: string[] = [];
  #textLength = 0;

  constructor(write: (frame: Buffer) => void) {
    this.#write = write;
  }

  /** @param message - as JSON text */
  add(message: string): void {
    if (this.#textLength + message.length > frameTextLength) this.flush();
    this.#messages.push(message);
    this.#textLength += message.length;
  }

  /** Sends the pending messages, then an output. */
  addOutput(executionId: string, output: string): void {
    this.flush();
    this.#write(encodeOutput(executionId, output));
  }

  flush(): void {
    if (this.#messages.length === 0) return;
    const frame = encodeMessages(this.#messages);
    this.#messages = [];
    this.#textLength = 0;
    this.#write(frame);
  }
}
