/** HTTP/2 frames (RFC 9113, section 4), for clients that break the rules. */

export const preface: Buffer = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

export const frameType = {
  data: 0,
  headers: 1,
  resetStream: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const endStream = 0x1;
export const endHeaders = 0x4;

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.byteLength, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/** A header block (RFC 7541) of literals without indexing and without Huffman coding. */
export function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(headers).map(([name, value]) =>
      Buffer.concat([Buffer.from([0]), literal(name), literal(value)]),
    ),
  );
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.byteLength < 127) return Buffer.concat([Buffer.from([bytes.byteLength]), bytes]);
  const rest: number[] = [];
  let left = bytes.byteLength - 127;
  for (; left >= 128; left = Math.floor(left / 128)) rest.push((left % 128) + 128);
  return Buffer.concat([Buffer.from([127, ...rest, left]), bytes]);
}

/** HEADERS of a request. */
export function request(
  stream: number,
  path: string,
  method = "GET",
  more: Record<string, string> = {},
): Buffer {
  const block = headerBlock({
    ":method": method,
    ":scheme": "http",
    ":path": path,
    ":authority": "localhost",
    ...more,
  });
  return frame(frameType.headers, endHeaders | (method === "GET" ? endStream : 0), stream, block);
}

export interface Frame {
  type: number;
  flags: number;
  stream: number;
  payload: Buffer;
}

/** The frames that arrive. */
export async function* readFrames(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const end = 9 + (rest.byteLength >= 9 ? rest.readUIntBE(0, 3) : 0);
      if (rest.byteLength < end) break;
      const payload = rest.subarray(9, end);
      yield { type: rest.readUInt8(3), flags: rest.readUInt8(4), stream: rest.readUInt32BE(5), payload };
      rest = rest.subarray(end);
    }
  }
}
