import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { packageDigest } from "../../project/archive/digest.ts";
import { packageLimits } from "../../project/limits.ts";
import { type UnpackedFile, unpackPackage } from "../../project/unpack.ts";
import { CliError } from "../app/errors.ts";
import { progress } from "../terminal/progress-bar.ts";

/** A package to fetch. */
export interface Download {
  url: string;
  sizeBytes: number;
  /** SHA-256 of the uncompressed tar archive, 64 lower-case hexadecimal digits. */
  digest: string;
}

/** Fetches a package to a file. It appears there whole and checked, or not at all. */
export async function downloadFile(path: string, download: Download): Promise<void> {
  const partial = join(dirname(path), `.${basename(path)}.${randomUUID()}.partial`);
  try {
    await fetchTo(partial, download);
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}

/** Fetches a package and unpacks it to a folder that must not exist. It appears there whole, or not at all. */
export async function downloadFolder(path: string, download: Download): Promise<UnpackedFile[]> {
  const partial = join(dirname(path), `.${basename(path)}.${randomUUID()}.partial`);
  try {
    await fetchTo(partial, download);
    return (await unpackPackage(createReadStream(partial), path, packageLimits)).files;
  } finally {
    await rm(partial, { force: true });
  }
}

/** @throws CliError also when what arrives is not what was announced */
async function fetchTo(path: string, download: Download): Promise<void> {
  const bar = progress("Downloading", download.sizeBytes);
  // Not a write stream: one that is given up while it opens makes its file after that, and nobody removes it.
  await using file = await open(path, "wx");
  const hash = createHash("sha256");
  try {
    for await (const chunk of receive(download, bar.update)) {
      hash.update(chunk);
      await file.writeFile(chunk);
    }
  } finally {
    bar.end();
  }
  // The digest of a deployment made with version 0.1 is that of the compressed bytes.
  if (hash.digest("hex") === download.digest) return;
  const digest = await packageDigest(createReadStream(path), packageLimits).catch(() => null);
  if (digest !== download.digest) throw failed("its content differs from what was pushed");
}

async function* receive(download: Download, onProgress: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  let received = 0;
  try {
    const response = await fetch(download.url);
    if (!response.ok) throw failed(`HTTP ${response.status}`);
    for await (const chunk of response.body ?? []) {
      received += chunk.byteLength;
      if (received > download.sizeBytes) throw failed("it is larger than what was pushed");
      onProgress(received);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof CliError ? error : failed((error as Error).message, error);
  }
  if (received !== download.sizeBytes) throw failed("the download is incomplete");
}

function failed(reason: string, cause?: unknown): CliError {
  return new CliError(`Cannot download the package: ${reason}.`, "Nothing was written. Try again.", {
    cause,
  });
}
