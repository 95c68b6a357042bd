/** Receives packages into temporary files and verifies them there, before a driver stores them. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { packageDigest } from "../../project/archive/digest.ts";
import { PackageError } from "../../project/archive/error.ts";
import type { Limits } from "../config/limits.ts";
import { ContentMismatch } from "./contract.ts";

export type StorageLimits = Pick<Limits, "packageBytes" | "unpackedBytes">;

/** @throws ContentMismatch when the content has another size */
export async function receive(
  path: string,
  sizeBytes: number,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  let received = 0;
  for await (const chunk of content) {
    received += chunk.byteLength;
    if (received > sizeBytes) break;
    await file.writeFile(chunk);
  }
  if (received !== sizeBytes) {
    const actual = received > sizeBytes ? "more" : String(received);
    throw new ContentMismatch(`The package must have ${sizeBytes} bytes as announced; it has ${actual}.`);
  }
  await file.sync();
}

/** @throws ContentMismatch when the file has another digest, or is not gzip */
export async function verify(path: string, digest: string, limits: StorageLimits): Promise<void> {
  const { packageBytes: compressedBytes, unpackedBytes } = limits;
  const actual = await packageDigest(createReadStream(path), { compressedBytes, unpackedBytes }).catch(
    (error: unknown) => {
      throw error instanceof PackageError ? new ContentMismatch(error.message) : error;
    },
  );
  if (actual !== digest) {
    throw new ContentMismatch(
      `The package must have digest ${digest} as announced; it has ${actual}. The digest is the SHA-256 of the uncompressed tar archive.`,
    );
  }
}
