/**
 * Objects as files in the data folder: `objects/<org>/<digest>`. A file gets its name only after its content was verified
 * and synced. A crash leaves at most a temporary file, which a start removes a day later: several servers may share the
 * folder.
 */
import { randomUUID } from "node:crypto";
import { createReadStream, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { mkdir, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ObjectKey, ObjectStorage, SignedRequest, Upload, UploadPart } from "./contract.ts";
import { receive, type StorageLimits, verify } from "./receive.ts";
import { loadSigningKey, signPath, verifyPath } from "./signing.ts";

/** An upload ends long before. */
const abandonedMs = 86_400_000;

const objectPath = /^\/storage\/(org_[0-9a-z]{26})\/([0-9a-f]{64})$/;

export function openFileStorage(dataDir: string, limits: StorageLimits): FileStorage {
  const root = join(dataDir, "objects");
  const temporary = join(dataDir, "tmp", "uploads");
  mkdirSync(root, { recursive: true, mode: 0o700 });
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  removeAbandoned(temporary);
  return new FileStorage(root, temporary, loadSigningKey(dataDir), limits);
}

/** Removes the files of uploads that ended with their server. */
function removeAbandoned(temporary: string): void {
  for (const name of readdirSync(temporary)) {
    const path = join(temporary, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && Date.now() - stats.mtimeMs > abandonedMs) rmSync(path, { force: true });
  }
}

export class FileStorage implements ObjectStorage {
  readonly isRemote = false;
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

  async sizeOf(key: ObjectKey): Promise<number | null> {
    return (await stat(this.#path(key)).catch(() => null))?.size ?? null;
  }

  async delete(key: ObjectKey): Promise<void> {
    await rm(this.#path(key), { force: true });
  }

  async signUpload(upload: Upload, _acceptsParts: boolean, baseUrl: string): Promise<UploadPart[]> {
    const url = this.#signUrl("PUT", upload, upload.expiresAtMs, baseUrl, upload.uploadId);
    return [{ url, sizeBytes: upload.sizeBytes }];
  }

  async signDownload(
    key: ObjectKey,
    expiresAtMs: number,
    baseUrl: string,
    fileName: string,
  ): Promise<string> {
    return this.#signUrl("GET", key, expiresAtMs, baseUrl, fileName);
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

  #signUrl(
    method: "GET" | "PUT",
    key: ObjectKey,
    expiresAtMs: number,
    baseUrl: string,
    name: string,
  ): string {
    const path = `/storage/${key.orgId}/${key.digest}`;
    return `${baseUrl}${path}?${signPath(this.#signingKey, { method, path, name, expiresAtMs })}`;
  }

  #path(key: ObjectKey): string {
    return join(this.#root, key.orgId, key.digest);
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
