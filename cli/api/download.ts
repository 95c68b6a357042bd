import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { packageLimits } from "../../project/limits.ts";
import { type UnpackedFile, unpackPackage } from "../../project/unpack.ts";
import { CliError } from "../app/errors.ts";
import { progress } from "../terminal/progress-bar.ts";

/** A package to fetch. */
export interface Download {
  url: string;
  sizeBytes: number;
  /** SHA-256, 64 lower-case hexadecimal digits. */
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
  try {
    for await (const chunk of receive(download, bar.update)) await file.writeFile(chunk);
  } finally {
    bar.end();
  }
}

async function* receive(download: Download, onProgress: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let received = 0;
  try {
    const response = await fetch(download.url);
    if (!response.ok) throw failed(`HTTP ${response.status}`);
    for await (const chunk of response.body ?? []) {
      received += chunk.byteLength;
      if (received > download.sizeBytes) throw failed("it is larger than what was pushed");
      hash.update(chunk);
      onProgress(received);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof CliError ? error : failed((error as Error).message, error);
  }
  if (received !== download.sizeBytes || hash.digest("hex") !== download.digest) {
    throw failed("what arrived is not what was pushed");
  }
}

function failed(reason: string, cause?: unknown): CliError {
  return new CliError(`Cannot download the package: ${reason}.`, "Nothing was written. Try again.", {
    cause,
  });
}
