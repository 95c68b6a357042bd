import { PackageError } from "./error.ts";

/** Takes exact numbers of bytes from a stream of chunks, holding no more than one chunk and what is asked for. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next `count` bytes, for the caller to keep. @throws PackageError when the stream ends before. */
  async take(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count);
    let filled = 0;
    for await (const part of this.parts(count)) {
      bytes.set(part, filled);
      filled += part.length;
    }
    return bytes;
  }

  /** The next `count` bytes as they come; each part is valid until the next is asked for. */
  async *parts(count: number): AsyncGenerator<Uint8Array, void, void> {
    for (let left = count; left > 0; ) {
      while (this.#chunk.length === 0) {
        const { value, done } = await this.#chunks.next();
        if (done === true)
          throw new PackageError("malformed", "The package is cut off: its archive has no end.");
        this.#chunk = value;
      }
      const part = this.#chunk.subarray(0, left);
      this.#chunk = this.#chunk.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  /** Reads to the end of the stream, so that its checksums are checked. */
  async drain(): Promise<void> {
    while ((await this.#chunks.next()).done !== true);
  }
}
