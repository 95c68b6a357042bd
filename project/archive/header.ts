/**
 * Tar headers (POSIX.1-2024 pax, "ustar interchange format"), made and read by nanotar.
 *
 * nanotar cannot be given whole archives here: it cuts names over 100 bytes, cannot write a pax header, repairs hostile
 * names in silence when reading, and splits the values of pax headers at spaces. So it makes and reads single headers,
 * and what it cannot do is done on their bytes.
 */
import { createTar, type ParsedTarFileItemMeta, parseTar } from "nanotar";

export const BLOCK_BYTES = 512;

/** `0` a file, `x` a pax header for the entry after it. */
export type EntryType = "0" | "x";

export interface EntryHeader {
  path: string;
  type: EntryType;
  sizeBytes: number;
  executable: boolean;
}

const noBytes = new Uint8Array(0);
const encoder = new TextEncoder();

/** The header block of an entry: root's, of the epoch, so that the same files give the same bytes. */
export function writeHeader({ path, type, sizeBytes, executable }: EntryHeader): Uint8Array {
  const attrs = { mode: executable ? "0000755" : "0000644", uid: 0, gid: 0, mtime: 0 };
  const header = createTar([{ name: path, data: noBytes, attrs }]).slice(0, BLOCK_BYTES);
  // Without the data nanotar writes size 0: it would copy the data byte by byte.
  encoder.encodeInto(octal(sizeBytes, 11), header.subarray(124, 135));
  header[156] = type.charCodeAt(0);
  encoder.encodeInto(`${octal(checksum(header), 6)}\0 `, header.subarray(148, 156));
  return header;
}

/** The pax header and its padded value that give the entry after it a path of any length and script. */
export function writePaxPath(path: string): Uint8Array {
  const record = paxRecord("path", path);
  const header = writeHeader({
    path: "./@PaxHeader",
    type: "x",
    sizeBytes: record.length,
    executable: false,
  });
  const bytes = new Uint8Array(BLOCK_BYTES + padded(record.length));
  bytes.set(header);
  bytes.set(record, BLOCK_BYTES);
  return bytes;
}

/** Whether the name field cannot hold a path: over 100 bytes, or not ASCII. */
export function needsPax(path: string): boolean {
  return path.length > 100 || !/^[\x20-\x7e]*$/.test(path);
}

/** A size rounded up to whole blocks. */
export function padded(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** Length, space, key, `=`, value, newline; the length counts itself. */
function paxRecord(key: string, value: string): Uint8Array {
  const body = encoder.encode(` ${key}=${value}\n`);
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
  // nanotar follows a pax header by itself: as a file it gives the same fields.
  alone[156] = 48;
  const [entry] = parseTar<ParsedTarFileItemMeta, { metaOnly: true }>(alone, { metaOnly: true });
  // nanotar takes a header without a name for the end.
  if (entry === undefined) return { path: null, type, sizeBytes: Number.NaN, executable: false };
  const { size, attrs } = entry;
  const sizeBytes = size >= 0 && /^[0-7]+[ \0]*$/.test(ascii(alone, 124, 12)) ? size : Number.NaN;
  return { path, type, sizeBytes, executable: (Number.parseInt(attrs?.mode ?? "0", 8) & 0o100) !== 0 };
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
