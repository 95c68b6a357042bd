/** Makes packages: tar archives that are identical for identical files, compressed with gzip for transport. */
import { createHash, randomUUID } from "node:crypto";
import { createWriteStream, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { writeTar } from "./archive/write.ts";
import { type CollectedFile, comparePaths } from "./package-file.ts";

interface PackedFile {
  /** Relative to the project, with `/`. */
  path: string;
  /** SHA-256 of the content, in lower-case hex. */
  digest: string;
}

export interface PackedProject {
  /** A temporary file with mode 600. */
  path: string;
  /** SHA-256 of the uncompressed tar archive, in lower-case hex. */
  digest: string;
  /** Size of the compressed archive. */
  sizeBytes: number;
  /** In the order of their paths, each with the SHA-256 of its content. */
  files: readonly PackedFile[];
  /** Removes the temporary file. Has no effect when called again. */
  remove(): void;
}

/**
 * 40 MB of sources take 450 ms of CPU time on Node and 340 ms on Bun, and become 11.4 and 10.9 MB. Level 1 takes 390 and
 * 160 ms for 12.0 and 15.0 MB; level 6 takes 910 and 590 ms for 10.4 MB.
 */
const gzipLevel = 3;

/** Size of the pieces that are hashed and compressed at a time, in bytes. */
const pieceBytes = 512 * 1024;

/**
 * Packages files in the order of their paths by code point, as files of root with mode 644 or 755 and no time. Holds a
 * few MiB, whatever the size of the package.
 *
 * @throws Error when a file cannot be read or has changed its size since it was collected
 */
export async function packFiles(files: readonly CollectedFile[]): Promise<PackedProject> {
  const sorted = files.toSorted((a, b) => comparePaths(a.path, b.path));
  const path = join(tmpdir(), `svc-${randomUUID()}.tar.gz`);
  const remove = (): void => rmSync(path, { force: true });
  const packed: PackedFile[] = [];
  const hash = createHash("sha256");
  const output = createWriteStream(path, { flags: "wx", mode: 0o600 });
  try {
    await pipeline(
      function* () {
        for (const piece of joined(writeTar(sorted, (path, digest) => packed.push({ path, digest })))) {
          hash.update(piece);
          yield piece;
        }
      },
      createGzip({ level: gzipLevel, chunkSize: 128 * 1024 }),
      output,
    );
  } catch (error) {
    remove();
    throw error;
  }
  return { path, digest: hash.digest("hex"), sizeBytes: output.bytesWritten, files: packed, remove };
}

/** Joins small pieces into pieces of at least `pieceBytes`: a stream costs much more per piece than per byte. */
function* joined(pieces: Iterable<Uint8Array>): Generator<Uint8Array, void, void> {
  let pending: Uint8Array[] = [];
  let length = 0;
  for (const piece of pieces) {
    pending.push(piece);
    length += piece.length;
    if (length < pieceBytes) continue;
    yield Buffer.concat(pending);
    pending = [];
    length = 0;
  }
  yield Buffer.concat(pending);
}
