import type { PackageLimits } from "../limits.ts";
import { PackageError } from "./error.ts";
import { BLOCK_BYTES, padded, type ReadHeader, readHeader, readPax } from "./header.ts";
import { shown } from "./paths.ts";
import type { ByteReader } from "./reader.ts";

/** The longest pax header that is read, in bytes: paths have no need of more. */
const maxPaxBytes = 64 * 1024;

export interface Entry {
  path: string;
  folder: boolean;
  sizeBytes: number;
  executable: boolean;
}

/**
 * The entries of a tar archive, in its order. The content of each must be read from the same reader before the next
 * entry is asked for, `sizeBytes` of it; padding is skipped here.
 *
 * @throws PackageError for anything but files and folders with valid headers
 */
export async function* readEntries(
  reader: ByteReader,
  limits: Pick<PackageLimits, "files">,
): AsyncGenerator<Entry, void, void> {
  let entries = 0;
  for (;;) {
    const header = await nextHeader(reader);
    if (header === null) return;
    // Folders count: an archive of nothing else would still fill a disk.
    if (++entries > limits.files) {
      throw new PackageError("limit", `The package has more than ${limits.files} files.`);
    }
    const { path, type, sizeBytes, executable } = header;
    const folder = type === "5";
    if (folder && sizeBytes !== 0) throw malformed(`the folder ${shown(path)} has content`);
    // Old archives mark a folder by its last character alone.
    if (!folder && path.endsWith("/")) throw malformed(`the file ${shown(path)} is named like a folder`);
    yield { path: folder ? path.replace(/\/$/, "") : path, folder, sizeBytes, executable };
    await skip(reader, padded(sizeBytes) - sizeBytes);
  }
}

type CheckedHeader = ReadHeader & { path: string };

/** The next header of a file or folder, with what a pax header before it says; null at the end of the archive. */
async function nextHeader(reader: ByteReader): Promise<CheckedHeader | null> {
  let pax: ReadonlyMap<string, string> = new Map();
  for (;;) {
    const block = await reader.take(BLOCK_BYTES);
    if (block.every((byte) => byte === 0)) {
      if (pax.size > 0) throw malformed("a pax header has no entry after it");
      return null;
    }
    const header = readHeader(block);
    if (header === null) throw malformed("the checksum of a header is wrong");
    if (header.type === "x") {
      if (pax.size > 0) throw malformed("two pax headers stand before one entry");
      pax = await paxRecords(reader, header.sizeBytes);
      continue;
    }
    const path = pax.get("path") ?? header.path;
    if (path === null || path === "") throw malformed("an entry has no name, or one that is not UTF-8");
    const what = refusedTypes[header.type] ?? `an entry of type ${shown(header.type)}`;
    if (header.type !== "0" && header.type !== "5") {
      throw malformed(`${shown(path)} is ${what}; only files and folders are accepted`);
    }
    const sizeBytes = pax.has("size") ? decimal(pax.get("size") ?? "") : header.sizeBytes;
    if (!Number.isSafeInteger(sizeBytes)) throw malformed(`the size of ${shown(path)} is not a number`);
    return { ...header, path, sizeBytes };
  }
}

const refusedTypes: Record<string, string> = {
  "1": "a hard link",
  "2": "a symbolic link",
  "3": "a character device",
  "4": "a block device",
  "6": "a named pipe",
  L: "a long name of GNU tar, whose pax format must be used instead",
  K: "a long link name of GNU tar",
  g: "a global pax header",
};

async function paxRecords(reader: ByteReader, sizeBytes: number): Promise<ReadonlyMap<string, string>> {
  if (!(sizeBytes > 0 && sizeBytes <= maxPaxBytes)) {
    throw malformed(`a pax header must have 1 to ${maxPaxBytes} bytes`);
  }
  const records = readPax(await reader.take(sizeBytes));
  await skip(reader, padded(sizeBytes) - sizeBytes);
  if (records === null || records.size === 0) throw malformed("a pax header cannot be read");
  for (const key of records.keys()) {
    if (key.startsWith("GNU.sparse.")) throw malformed("a sparse file is not accepted");
  }
  return records;
}

async function skip(reader: ByteReader, count: number): Promise<void> {
  for await (const _ of reader.parts(count));
}

function decimal(digits: string): number {
  return /^[0-9]{1,15}$/.test(digits) ? Number(digits) : Number.NaN;
}

function malformed(why: string): PackageError {
  return new PackageError("malformed", `The package is not an archive that svc accepts: ${why}.`);
}
