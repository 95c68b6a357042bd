import { createHash, randomUUID } from "node:crypto";
import { createReadStream, rmSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { packageDigest } from "../../project/archive/digest.ts";
import { packageLimits } from "../../project/limits.ts";
import { type UnpackedFile, unpackPackage } from "../../project/unpack.ts";
import { CliError } from "../app/errors.ts";
import { progressBar } from "../terminal/progress-bar.ts";

/** A package in object storage. */
export interface Download {
  url: string;
  sizeBytes: number;
  /** SHA-256 of the uncompressed tar archive, 64 lower-case hexadecimal digits. */
  digest: string;
}

/** Downloads a package to a file, which appears only when it is complete and verified. */
export function downloadFile(path: string, download: Download): Promise<void> {
  return withPartial(path, async (partial) => {
    await downloadTo(partial, download);
    await rename(partial, path);
  });
}

/** Downloads and unpacks a package to a new folder, which appears only when it is complete. */
export function downloadFolder(path: string, download: Download): Promise<UnpackedFile[]> {
  return withPartial(path, async (partial) => {
    await downloadTo(partial, download);
    return (await unpackPackage(createReadStream(partial), path, packageLimits)).files;
  });
}

/** Removes the temporary file next to `path` at the end, also when a signal ends the process. */
async function withPartial<Result>(
  path: string,
  work: (partial: string) => Promise<Result>,
): Promise<Result> {
  const partial = join(dirname(path), `.${basename(path)}.${randomUUID()}.partial`);
  const remove = (): void => rmSync(partial, { force: true });
  process.once("exit", remove);
  try {
    return await work(partial);
  } finally {
    remove();
    process.off("exit", remove);
  }
}

/** @throws CliError also when the size or the digest differs */
async function downloadTo(path: string, download: Download): Promise<void> {
  const bar = progressBar("Downloading", download.sizeBytes);
  // A write stream that is destroyed while it opens still creates its file, which would then remain.
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
  if (digest !== download.digest) throw failed("the content differs from the pushed package");
}

async function* receive(download: Download, onProgress: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  let received = 0;
  try {
    const response = await fetch(download.url);
    if (!response.ok) throw failed(`HTTP ${response.status}`);
    for await (const chunk of response.body ?? []) {
      received += chunk.byteLength;
      if (received > download.sizeBytes) throw failed("it is larger than the pushed package");
      onProgress(received);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof CliError ? error : failed((error as Error).message, error);
  }
  if (received !== download.sizeBytes) throw failed("the download is incomplete");
}

function failed(reason: string, cause?: unknown): CliError {
  return new CliError(`Cannot download the package: ${reason}.`, "No file was written. Try again.", {
    cause,
  });
}
