/** Messages of a stream in the Connect protocol: one byte of flags, four bytes of length, then the data. */

const headerBytes = 5;

export interface Envelope {
  flags: number;
  data: Uint8Array;
}

/** The envelope of one message. */
export function envelope(data: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(headerBytes + data.length);
  bytes.writeUInt32BE(data.length, 1);
  bytes.set(data, headerBytes);
  return bytes;
}

/** @throws Error when the stream ends within an envelope, or an envelope is larger than `maxBytes` */
export async function* readEnvelopes(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Envelope> {
  let parts: Uint8Array[] = [];
  let available = 0;
  // The length of the envelope that is being read; null before its header.
  let wanted: number | null = null;
  for await (const chunk of chunks) {
    parts.push(chunk);
    available += chunk.length;
    if (available < (wanted ?? headerBytes)) continue;
    let bytes =
      parts.length === 1 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat(parts);
    for (;;) {
      if (bytes.length < headerBytes) {
        wanted = null;
        break;
      }
      const length = bytes.readUInt32BE(1);
      if (length > maxBytes)
        throw new Error(`A message of the stream has ${length} bytes; the limit is ${maxBytes}.`);
      wanted = headerBytes + length;
      if (bytes.length < wanted) break;
      yield { flags: bytes.readUInt8(0), data: bytes.subarray(headerBytes, wanted) };
      bytes = bytes.subarray(wanted);
    }
    parts = [bytes];
    available = bytes.length;
  }
  if (available > 0) throw new Error("The stream ended within a message.");
}
