import { PackageError } from "./error.ts";

/** Takes exact numbers of bytes from a stream. Buffers at most one chunk. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next `count` bytes, as a copy. @throws PackageError when the stream ends first */
  async take(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count);
    let filled = 0;
    for await (const part of this.parts(count)) {
      bytes.set(part, filled);
      filled += part.length;
    }
    return bytes;
  }

  /** The next `count` bytes in parts. A part is valid until the next one is read. */
  async *parts(count: number): AsyncGenerator<Uint8Array, void, void> {
    for (let remaining = count; remaining > 0; ) {
      while (this.#chunk.length === 0) {
        const { value, done } = await this.#chunks.next();
        if (done === true)
          throw new PackageError("malformed", "The package is cut off: its archive has no end.");
        this.#chunk = value;
      }
      const part = this.#chunk.subarray(0, remaining);
      this.#chunk = this.#chunk.subarray(part.length);
      remaining -= part.length;
      yield part;
    }
  }

  async skip(count: number): Promise<void> {
    for await (const _ of this.parts(count));
  }

  /** Reads to the end of the stream, which makes gzip verify its checksum. */
  async drain(): Promise<void> {
    while ((await this.#chunks.next()).done !== true);
  }
}
