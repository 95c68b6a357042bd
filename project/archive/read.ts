/**
 * Reads tar archives from untrusted clients, entry by entry.
 *
 * nanotar cannot be used here: it needs the whole archive in memory, does not check checksums, loops forever on a
 * negative size, rewrites `..` and absolute paths instead of reporting them, ignores the prefix field, and cuts pax
 * values at the first space.
 */
import type { PackageLimits } from "../limits.ts";
import { PackageError } from "./error.ts";
import { displayPath } from "./paths.ts";
import type { ByteReader } from "./reader.ts";
import { BLOCK_BYTES, checksum, padded } from "./write.ts";

/** The longest accepted pax header, in bytes. Paths need less. */
const maxPaxBytes = 64 * 1024;

/** A regular file or a folder. */
export interface Entry {
  path: string;
  isFolder: boolean;
  sizeBytes: number;
  executable: boolean;
}

const rejectedTypes: Record<string, string> = {
  "1": "a hard link",
  "2": "a symbolic link",
  "3": "a character device",
  "4": "a block device",
  "6": "a named pipe",
  L: "a GNU long name, which must be a pax header instead",
  K: "a GNU long link name",
  g: "a global pax header",
};

/**
 * The entries of an archive, in its order. The caller must read `sizeBytes` of content from the reader before it asks
 * for the next entry.
 *
 * @throws PackageError for an invalid header and for anything but files and folders
 */
export async function* readEntries(
  reader: ByteReader,
  limits: Pick<PackageLimits, "files">,
): AsyncGenerator<Entry, void, void> {
  let count = 0;
  let pax: ReadonlyMap<string, string> | null = null;
  for (;;) {
    const block = await reader.take(BLOCK_BYTES);
    if (block.every((byte) => byte === 0)) {
      if (pax !== null) throw malformed("a pax header has no entry after it");
      return;
    }
    if (octal(block, 148, 8) !== checksum(block)) throw malformed("the checksum of a header is wrong");
    const type = String.fromCharCode(block[156] || 48);
    if (type === "x") {
      if (pax !== null) throw malformed("two pax headers precede one entry");
      pax = await readPax(reader, octal(block, 124, 12));
      continue;
    }
    // Folders count: an archive of folders alone would also fill a disk.
    if (++count > limits.files) {
      throw new PackageError("limit", `The package has more than ${limits.files} files.`);
    }
    const entry = entryOf(block, type, pax);
    pax = null;
    yield entry;
    await reader.skip(padded(entry.sizeBytes) - entry.sizeBytes);
  }
}

function entryOf(block: Uint8Array, type: string, pax: ReadonlyMap<string, string> | null): Entry {
  const path = pax?.get("path") ?? headerPath(block);
  if (path === null || path === "") throw malformed("an entry has no name, or its name is not UTF-8");
  if (type !== "0" && type !== "5") {
    const kind = rejectedTypes[type] ?? `an entry of type ${displayPath(type)}`;
    throw malformed(`${displayPath(path)} is ${kind}; only files and folders are accepted`);
  }
  const paxSize = pax?.get("size");
  const sizeBytes = paxSize === undefined ? octal(block, 124, 12) : decimal(paxSize);
  if (Number.isNaN(sizeBytes)) throw malformed(`the size of ${displayPath(path)} is not a number`);
  const isFolder = type === "5";
  if (isFolder && sizeBytes !== 0) throw malformed(`the folder ${displayPath(path)} has content`);
  // Old archives mark a folder only by its last character.
  if (!isFolder && path.endsWith("/"))
    throw malformed(`the file ${displayPath(path)} is named like a folder`);
  const executable = (octal(block, 100, 8) & 0o100) !== 0;
  return { path: isFolder ? path.replace(/\/$/, "") : path, isFolder, sizeBytes, executable };
}

async function readPax(reader: ByteReader, sizeBytes: number): Promise<ReadonlyMap<string, string>> {
  if (!(sizeBytes > 0 && sizeBytes <= maxPaxBytes)) {
    throw malformed(`a pax header must have 1 to ${maxPaxBytes} bytes`);
  }
  const records = parsePax(await reader.take(sizeBytes));
  await reader.skip(padded(sizeBytes) - sizeBytes);
  if (records === null) throw malformed("a pax header cannot be read");
  for (const key of records.keys()) {
    if (key.startsWith("GNU.sparse.")) throw malformed("a sparse file is not accepted");
  }
  return records;
}

/** The records of a pax header; null when one is malformed. The last record of a key takes effect. */
function parsePax(bytes: Uint8Array): Map<string, string> | null {
  const records = new Map<string, string>();
  for (let start = 0; start < bytes.length; ) {
    const space = bytes.indexOf(32, start);
    const end = space < 0 ? 0 : start + decimal(latin1(bytes, start, space - start));
    if (!(end > space && end <= bytes.length) || bytes[end - 1] !== 10) return null;
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(utf8(bytes.subarray(space + 1, end - 1)) ?? "") ?? [];
    if (key === undefined || value === undefined) return null;
    records.set(key, value);
    start = end;
  }
  return records;
}

function headerPath(block: Uint8Array): string | null {
  const name = utf8(untilNul(block.subarray(0, 100)));
  // The GNU format uses the bytes of the prefix for other fields.
  const prefix = latin1(block, 257, 6) === "ustar\0" ? utf8(untilNul(block.subarray(345, 500))) : "";
  if (name === null || prefix === null) return null;
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** NaN when the field is not an octal number. */
function octal(block: Uint8Array, offset: number, length: number): number {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(latin1(block, offset, length))?.[1];
  return digits === undefined ? Number.NaN : Number.parseInt(digits, 8);
}

function decimal(digits: string): number {
  return /^[0-9]{1,15}$/.test(digits) ? Number(digits) : Number.NaN;
}

function latin1(bytes: Uint8Array, offset: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(offset, offset + length));
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

function malformed(reason: string): PackageError {
  return new PackageError("malformed", `The package is not an archive that svc accepts: ${reason}.`);
}
