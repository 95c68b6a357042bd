/**
 * Objects as files in the data folder: `objects/<org>/<digest>`. A file gets its name only after its content was verified
 * and synced. A crash leaves at most a temporary file, which the next start removes.
 */
import { randomUUID } from "node:crypto";
import { createReadStream, mkdirSync, rmSync } from "node:fs";
import { mkdir, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packageDigest } from "../../project/archive/digest.ts";
import { PackageError } from "../../project/archive/error.ts";
import type { Limits } from "../config.ts";
import { ContentMismatch, type ObjectKey, type ObjectStorage, type SignedRequest } from "./contract.ts";
import { loadSigningKey, signPath, verifyPath } from "./signing.ts";

const objectPath = /^\/storage\/(org_[0-9a-z]{26})\/([0-9a-f]{64})$/;

type StorageLimits = Pick<Limits, "packageBytes" | "unpackedBytes">;

export function openFileStorage(dataDir: string, limits: StorageLimits): FileStorage {
  const root = join(dataDir, "objects");
  const temporary = join(dataDir, "tmp", "uploads");
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(root, { recursive: true, mode: 0o700 });
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  return new FileStorage(root, temporary, loadSigningKey(dataDir), limits);
}

export class FileStorage implements ObjectStorage {
  readonly #root: string;
  readonly #temporary: string;
  readonly #signingKey: Buffer;
  readonly #limits: StorageLimits;

  constructor(root: string, temporary: string, signingKey: Buffer, limits: StorageLimits) {
    this.#root = root;
    this.#temporary = temporary;
    this.#signingKey = signingKey;
    this.#limits = limits;
  }

  async put(key: ObjectKey, sizeBytes: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    const temporary = join(this.#temporary, randomUUID());
    try {
      await receive(temporary, sizeBytes, content);
      await verify(temporary, key.digest, this.#limits);
      await mkdir(join(this.#root, key.orgId), { recursive: true, mode: 0o700 });
      await rename(temporary, this.#path(key));
      await syncDirectory(join(this.#root, key.orgId));
    } finally {
      await rm(temporary, { force: true });
    }
  }

  async get(
    key: ObjectKey,
  ): Promise<{ sizeBytes: number; content: ReturnType<typeof createReadStream> } | null> {
    const path = this.#path(key);
    const info = await stat(path).catch(() => null);
    return info === null ? null : { sizeBytes: info.size, content: createReadStream(path) };
  }

  async delete(key: ObjectKey): Promise<void> {
    await rm(this.#path(key), { force: true });
  }

  signUrl(method: "GET" | "PUT", key: ObjectKey, expiresAtMs: number, baseUrl: string, name: string): string {
    const path = `/storage/${key.orgId}/${key.digest}`;
    return `${baseUrl}${path}?${signPath(this.#signingKey, { method, path, name, expiresAtMs })}`;
  }

  verifyUrl(method: string, path: string, query: URLSearchParams): SignedRequest | null {
    const [, orgId, digest] = objectPath.exec(path) ?? [];
    if (orgId === undefined || digest === undefined) return null;
    const signed = verifyPath(this.#signingKey, method, path, query);
    return signed === null ? null : { ...signed, key: { orgId, digest } };
  }

  async check(): Promise<void> {
    const probe = join(this.#temporary, `probe-${randomUUID()}`);
    await writeFile(probe, "probe");
    await rm(probe);
  }

  #path(key: ObjectKey): string {
    return join(this.#root, key.orgId, key.digest);
  }
}

async function receive(path: string, sizeBytes: number, content: AsyncIterable<Uint8Array>): Promise<void> {
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

async function verify(path: string, digest: string, limits: StorageLimits): Promise<void> {
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

/** Makes a rename durable, on platforms that can open a directory. */
async function syncDirectory(path: string): Promise<void> {
  try {
    const directory = await open(path, "r");
    await directory.sync().finally(() => directory.close());
  } catch {
    // Windows cannot.
  }
}
