/** Makes hostile and unusual tar archives, independently of the code under test. */
import { gzipSync } from "node:zlib";

export interface Entry {
  name: string;
  /** Type flag. Default `0`. */
  type?: string;
  data?: string | Uint8Array;
  /** Size in the header. Default: the length of the data. */
  size?: string | number;
  mode?: number;
  linkname?: string;
  prefix?: string;
  /** Records of a preceding pax header. */
  pax?: Record<string, string>;
  /** Writes a wrong checksum. */
  badChecksum?: boolean;
}

export function tar(entries: readonly Entry[], options: { end?: boolean } = {}): Buffer {
  const blocks = entries.flatMap((entry) => [...paxBlocks(entry), ...entryBlocks(entry)]);
  if (options.end !== false) blocks.push(Buffer.alloc(1024));
  return Buffer.concat(blocks);
}

export function tarGz(entries: readonly Entry[], options: { end?: boolean } = {}): Buffer {
  return gzipSync(tar(entries, options));
}

/** The bytes in pieces, as from a network. */
export async function* inPieces(bytes: Uint8Array, pieceBytes = 65_536): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    yield bytes.subarray(start, start + pieceBytes);
  }
}

export function paxRecord(key: string, value: string): string {
  const body = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(body);
  let length = bytes;
  while (bytes + String(length).length !== length) length = bytes + String(length).length;
  return `${length}${body}`;
}

function paxBlocks({ pax }: Entry): Buffer[] {
  if (pax === undefined) return [];
  const data = Object.entries(pax).map(([key, value]) => paxRecord(key, value));
  return entryBlocks({ name: "pax", type: "x", data: data.join("") });
}

function entryBlocks(entry: Entry): Buffer[] {
  const data = Buffer.from(entry.data ?? "");
  const header = Buffer.alloc(512);
  header.write(entry.name, 0, 100);
  header.write(`${(entry.mode ?? 0o644).toString(8).padStart(7, "0")}\0`, 100);
  header.write("0000000\0".repeat(2), 108);
  const size = entry.size ?? data.length;
  header.write(typeof size === "string" ? size : `${size.toString(8).padStart(11, "0")}\0`, 124, "latin1");
  header.write("00000000000\0", 136);
  header.write(entry.type ?? "0", 156);
  header.write(entry.linkname ?? "", 157);
  header.write("ustar\x0000", 257);
  header.write(entry.prefix ?? "", 345, 155);
  header.write("        ", 148);
  const sum = header.reduce((total, byte) => total + byte, entry.badChecksum ? 1 : 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return [header, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
}
