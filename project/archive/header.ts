/**
 * Tar headers (POSIX.1-2024 pax, "ustar interchange format"), made and read by nanotar.
 *
 * nanotar cannot be given whole archives here: it cuts names over 100 bytes, cannot write a pax header, repairs hostile
 * names in silence when reading, and splits the values of pax headers at spaces. So it makes and reads single headers,
 * and what it cannot do is done on their bytes.
 */
import { createTar, type ParsedTarFileItemMeta, parseTar } from "nanotar";

export const BLOCK_BYTES = 512;

/** What a header says of a file. */
export interface HeaderFields {
  path: string;
  sizeBytes: number;
  executable: boolean;
}

const noBytes = new Uint8Array(0);
const encoder = new TextEncoder();

/** The headers of each file: root's, of the epoch, so that the same files give the same bytes. */
export function writeHeaders(files: readonly HeaderFields[]): Uint8Array[] {
  // One call for all: nanotar rounds what it allocates up to 10 KiB.
  const attrs = { uid: 0, gid: 0, mtime: 0 };
  const items = files.map(({ path, executable }) => {
    return { name: path, data: noBytes, attrs: { ...attrs, mode: executable ? "0000755" : "0000644" } };
  });
  const blocks = createTar([
    { name: paxName, data: noBytes, attrs: { ...attrs, mode: "0000644" } },
    ...items,
  ]);
  const paxBlock = blocks.slice(0, BLOCK_BYTES);
  return files.map(({ path, sizeBytes }, index) => {
    const start = BLOCK_BYTES * (index + 1);
    const header = finished(blocks.subarray(start, start + BLOCK_BYTES), "0", sizeBytes);
    if (!needsPax(path)) return header;
    const record = pathRecord(path);
    const bytes = new Uint8Array(headerBytes(path));
    bytes.set(finished(paxBlock.slice(), "x", record.length));
    bytes.set(record, BLOCK_BYTES);
    bytes.set(header, bytes.length - BLOCK_BYTES);
    return bytes;
  });
}

/** How many bytes the headers of a file take: one block, and before it a pax header if its name field is too small. */
export function headerBytes(path: string): number {
  return needsPax(path) ? 2 * BLOCK_BYTES + padded(pathRecord(path).length) : BLOCK_BYTES;
}

/** What the name field of a pax header says; nothing reads it. */
const paxName = "./@PaxHeader";

/** Puts in what nanotar could not know: it takes the size from the data, and would copy that byte by byte. */
function finished(header: Uint8Array, type: "0" | "x", sizeBytes: number): Uint8Array {
  encoder.encodeInto(octal(sizeBytes, 11), header.subarray(124, 135));
  header[156] = type.charCodeAt(0);
  encoder.encodeInto(`${octal(checksum(header), 6)}\0 `, header.subarray(148, 156));
  return header;
}

/** Whether the name field cannot hold a path: over 100 bytes, or not ASCII. */
function needsPax(path: string): boolean {
  return path.length > 100 || !/^[\x20-\x7e]*$/.test(path);
}

/** A size rounded up to whole blocks. */
export function padded(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** Length, space, `path=`, value, newline; the length counts itself. */
function pathRecord(path: string): Uint8Array {
  const body = encoder.encode(` path=${path}\n`);
  let length = body.length + 1;
  while (String(length).length + body.length !== length) length = String(length).length + body.length;
  const record = new Uint8Array(length);
  encoder.encodeInto(String(length), record);
  record.set(body, length - body.length);
  return record;
}

export interface ReadHeader {
  /** As written, unlike nanotar's, which drops `..` and leading `/`. Null when it is not UTF-8. */
  path: string | null;
  /** The type flag; a NUL reads as `0`. */
  type: string;
  /** NaN when it is not an octal number. */
  sizeBytes: number;
  executable: boolean;
}

/** Reads a header block; null when its checksum is wrong. */
export function readHeader(block: Uint8Array): ReadHeader | null {
  // nanotar reads the buffer under a view from its start, and only headers with more bytes after them.
  const alone = new Uint8Array(2 * BLOCK_BYTES);
  alone.set(block);
  const stored = Number.parseInt(ascii(alone, 148, 8), 8);
  if (stored !== checksum(alone.subarray(0, BLOCK_BYTES))) return null;
  const path = headerPath(alone);
  const type = String.fromCharCode(alone[156] || 48);
  const unreadable = { path, type, sizeBytes: Number.NaN, executable: false };
  // nanotar steps back over a negative size, and so might never end.
  if (!/^[0-7]+[ \0]*$/.test(ascii(alone, 124, 12))) return unreadable;
  // nanotar follows a pax header by itself: as a file it gives the same fields.
  alone[156] = 48;
  const [entry] = parseTar<ParsedTarFileItemMeta, { metaOnly: true }>(alone, { metaOnly: true });
  // nanotar takes a header without a name for the end.
  if (entry === undefined) return unreadable;
  const executable = (Number.parseInt(entry.attrs?.mode ?? "0", 8) & 0o100) !== 0;
  return { path, type, sizeBytes: entry.size, executable };
}

/** The records of a pax header; null when they are malformed. A later record of one key wins. */
export function readPax(bytes: Uint8Array): Map<string, string> | null {
  const records = new Map<string, string>();
  let offset = 0;
  while (offset < bytes.length) {
    const space = bytes.indexOf(32, offset);
    const digits = space < 0 ? "" : ascii(bytes, offset, space - offset);
    const length = /^[1-9][0-9]{0,6}$/.test(digits) ? Number(digits) : 0;
    const end = offset + length;
    if (end <= space || end > bytes.length || bytes[end - 1] !== 10) return null;
    const record = utf8(bytes.subarray(space + 1, end - 1));
    const equals = record?.indexOf("=") ?? -1;
    if (record === null || equals < 1) return null;
    records.set(record.slice(0, equals), record.slice(equals + 1));
    offset = end;
  }
  return records;
}

function headerPath(header: Uint8Array): string | null {
  const name = utf8(untilNul(header.subarray(0, 100)));
  // `ustar` and NUL; GNU's own format has other things where this one has a prefix.
  const isUstar = ascii(header, 257, 6) === "ustar\0";
  const prefix = isUstar ? utf8(untilNul(header.subarray(345, 500))) : "";
  if (name === null || prefix === null) return null;
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** The sum of all bytes, those of the checksum itself counted as spaces. */
function checksum(header: Uint8Array): number {
  let sum = 0;
  for (let index = 0; index < BLOCK_BYTES; index++) {
    sum += index >= 148 && index < 156 ? 32 : (header[index] ?? 0);
  }
  return sum;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

function ascii(bytes: Uint8Array, offset: number, length: number): string {
  let text = "";
  for (const byte of bytes.subarray(offset, offset + length)) text += String.fromCharCode(byte);
  return text;
}

function untilNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
