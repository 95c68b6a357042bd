/** Unpacks packages from untrusted clients. */
import { createHash, type Hash, randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { decompress, overLimit } from "./archive/decompress.ts";
import { FolderWriter } from "./archive/extract.ts";
import { checkLayout, type PackageLayout } from "./archive/layout.ts";
import { PathRegistry } from "./archive/paths.ts";
import { readEntries } from "./archive/read.ts";
import { ByteReader } from "./archive/reader.ts";
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
 * Unpacks a gzip-compressed tar archive to `targetDir`, which must not exist; its parent must. The folder appears
 * complete or not at all: the files are written to a temporary folder next to it, which is then renamed. The files are
 * not synced to disk.
 *
 * Holds a few MiB, whatever the size of the archive, and returns to the event loop every 64 KiB. Files get mode 644 or
 * 755.
 *
 * @param layout - paths whose type matters, in lower case
 * @param hash - whether to compute the digest of the package. It takes about a millisecond per MiB.
 * @throws PackageError for an exceeded limit, a project file over its own limit, a damaged archive, a path of the layout
 * with the wrong type, and anything but files and folders: absolute paths, `..`, links, devices, and paths that are equal
 * or differ only in case
 */
export async function unpackPackage(
  source: AsyncIterable<Uint8Array>,
  targetDir: string,
  limits: Readonly<PackageLimits>,
  layout: PackageLayout = { files: [], folders: [] },
  { hash }: { hash: boolean } = { hash: false },
): Promise<{ files: UnpackedFile[]; digest: string | null }> {
  const workDir = `${targetDir}.${randomUUID()}.partial`;
  await mkdir(workDir, { mode: 0o755 });
  try {
    const files: UnpackedFile[] = [];
    const sha256 = hash ? createHash("sha256") : null;
    await decompress(source, limits, async (archive) => {
      const reader = new ByteReader(sha256 === null ? archive : hashed(archive, sha256));
      files.push(...(await extractEntries(reader, workDir, limits, layout)));
    });
    await rename(workDir, targetDir);
    return { files, digest: sha256?.digest("hex") ?? null };
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function* hashed(
  archive: AsyncIterable<Uint8Array>,
  sha256: Hash,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of archive) {
    sha256.update(chunk);
    yield chunk;
  }
}

async function extractEntries(
  reader: ByteReader,
  workDir: string,
  limits: Readonly<PackageLimits>,
  layout: PackageLayout,
): Promise<UnpackedFile[]> {
  const files: UnpackedFile[] = [];
  const paths = new PathRegistry(limits.files);
  const writer = new FolderWriter(workDir);
  try {
    for await (const entry of readEntries(reader, limits)) {
      const { path, sizeBytes, isFolder } = entry;
      if (sizeBytes > limits.unpackedBytes) throw overLimit(limits.unpackedBytes, "unpacked");
      checkLayout(entry, layout);
      await writer.makeFolders(isFolder ? paths.addFolder(path) : paths.addFile(path));
      if (!isFolder) files.push({ path, sizeBytes, digest: await writer.writeFile(entry, reader) });
    }
    await reader.drain();
  } finally {
    // After a failure too: the folder is removed only when all writes have ended.
    await writer.finish();
  }
  return files;
}
