/** Unpacks packages that nobody vouches for. */
import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { readEntries } from "./archive/entries.ts";
import { PackageError } from "./archive/error.ts";
import { PathClaims } from "./archive/paths.ts";
import { ByteReader } from "./archive/reader.ts";
import { FolderWriter } from "./archive/writer.ts";
import type { PackageLimits } from "./limits.ts";

export { PackageError } from "./archive/error.ts";

export interface UnpackedFile {
  /** Relative to the package, with `/`. */
  path: string;
  sizeBytes: number;
  /** SHA-256 of the content, in lower-case hex. */
  digest: string;
}

/**
 * Unpacks a gzip-compressed tar archive to `targetDir`, which must not exist; its parent must. All or nothing: the
 * files are written beside it and renamed at the end. What was written is not synced to the disk.
 *
 * Holds at most a few MiB whatever the archive is, and returns to the event loop between pieces of 64 KiB. Files get
 * mode 644 or 755.
 *
 * @throws PackageError for anything but files and folders within the limits: absolute paths, `..`, links, devices,
 * paths that are there already or differ from one in case alone, and archives that are broken or cut off
 */
export async function unpackPackage(
  source: AsyncIterable<Uint8Array>,
  targetDir: string,
  limits: Readonly<PackageLimits>,
): Promise<{ files: UnpackedFile[] }> {
  const workDir = `${targetDir}.${randomUUID()}.partial`;
  await mkdir(workDir, { mode: 0o755 });
  try {
    const files: UnpackedFile[] = [];
    await pipeline(
      counted(source, limits.compressedBytes, "compressed"),
      createGunzip({ chunkSize: 64 * 1024 }),
      async (chunks: AsyncIterable<Uint8Array>) => {
        const reader = new ByteReader(counted(chunks, limits.unpackedBytes, "unpacked"));
        files.push(...(await writeEntries(reader, workDir, limits)));
      },
    );
    await rename(workDir, targetDir);
    return { files };
  } catch (error) {
    throw translated(error);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function writeEntries(
  reader: ByteReader,
  workDir: string,
  limits: Readonly<PackageLimits>,
): Promise<UnpackedFile[]> {
  const files: UnpackedFile[] = [];
  const claims = new PathClaims(limits.files);
  const writer = new FolderWriter(workDir);
  try {
    for await (const entry of readEntries(reader, limits)) {
      const { path, sizeBytes, folder } = entry;
      if (sizeBytes > limits.unpackedBytes) throw overLimit(limits.unpackedBytes, "unpacked");
      await writer.makeFolders(folder ? claims.claimFolder(path) : claims.claimFile(path));
      if (!folder) files.push({ path, sizeBytes, digest: await writer.writeFile(entry, reader) });
    }
    await reader.drain();
  } finally {
    // Also after a failure: nothing may still be writing when the folder is removed.
    await writer.finish();
  }
  return files;
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  what: "compressed" | "unpacked",
): AsyncGenerator<Uint8Array, void, void> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw overLimit(maxBytes, what);
    yield chunk;
  }
}

function overLimit(maxBytes: number, what: "compressed" | "unpacked"): PackageError {
  return new PackageError("limit", `The package has more than ${maxBytes} bytes ${what}.`);
}

function translated(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof PackageError || !/^(Z_|ERR_ZLIB)/.test(code ?? "")) return error;
  return new PackageError("malformed", "The package is not a gzip archive, or its data is damaged.", {
    cause: error,
  });
}
