/** Makes packages: gzip-compressed tar archives in which the same files always give the same bytes. */
import { createHash, randomUUID } from "node:crypto";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { combineCrc } from "./archive/crc.ts";
import { layOut } from "./archive/layout.ts";
import { compressAll } from "./archive/pool.ts";
import { type CollectedFile, comparePaths } from "./package-file.ts";

export interface PackedProject {
  /** A temporary file with mode 600. */
  path: string;
  /** SHA-256 of the package, in lower-case hex. */
  digest: string;
  sizeBytes: number;
  fileCount: number;
  /** Removes the temporary file; does nothing the second time. */
  remove(): void;
}

/** RFC 1952, 2.3: deflate, no flags, no time, no extra flags, and 255 for an unknown system, on every system. */
const gzipHeader = new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/**
 * Packs files, in the order of their paths by code point, as files of root with mode 644 or 755 and no time. Holds 2 MiB
 * and its compressed form a few times over, whatever the size of the package.
 *
 * @throws Error when a file cannot be read or is no longer as large as it was when it was collected
 */
export async function packFiles(files: readonly CollectedFile[]): Promise<PackedProject> {
  const segments = layOut(files.toSorted((a, b) => comparePaths(a.path, b.path)));
  const path = join(tmpdir(), `svc-${randomUUID()}.tar.gz`);
  const remove = (): void => rmSync(path, { force: true });
  const output = openSync(path, "wx", 0o600);
  const hash = createHash("sha256");
  let sizeBytes = 0;
  const write = (bytes: Uint8Array): void => {
    hash.update(bytes);
    for (let written = 0; written < bytes.length; ) written += writeSync(output, bytes, written);
    sizeBytes += bytes.length;
  };
  try {
    write(gzipHeader);
    let crc = 0;
    let index = 0;
    let length = 0;
    for await (const compressed of compressAll(segments)) {
      const segmentLength = segments[index++]?.length ?? 0;
      crc = combineCrc(crc, compressed.crc, segmentLength);
      length += segmentLength;
      write(compressed.bytes);
    }
    write(trailer(crc, length));
  } catch (error) {
    remove();
    throw error;
  } finally {
    closeSync(output);
  }
  return { path, digest: hash.digest("hex"), sizeBytes, fileCount: files.length, remove };
}

/** CRC-32 and length modulo 2^32, little-endian. */
function trailer(crc: number, length: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(8));
  view.setUint32(0, crc, true);
  view.setUint32(4, length % 2 ** 32, true);
  return new Uint8Array(view.buffer);
}
