/**
 * Objects as files under the data folder: `objects/<org>/<digest>`. A file appears under its name only after its content
 * was checked and synced, so that a crash leaves at most a temporary file, which the next start removes.
 */
import { createHash, randomUUID } from "node:crypto";
import { createReadStream, mkdirSync, rmSync } from "node:fs";
import { mkdir, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ContentMismatch, type ObjectKey, type ObjectStorage, type SignedRequest } from "./contract.ts";
import { loadSigningKey, signPath, verifyPath } from "./signing.ts";

const objectPath = /^\/storage\/(org_[0-9a-z]{26})\/([0-9a-f]{64})$/;

export function openFileStorage(dataDir: string): FileStorage {
  const root = join(dataDir, "objects");
  const temporary = join(dataDir, "tmp", "uploads");
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(root, { recursive: true, mode: 0o700 });
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  return new FileStorage(root, temporary, loadSigningKey(dataDir));
}

export class FileStorage implements ObjectStorage {
  readonly #root: string;
  readonly #temporary: string;
  readonly #signingKey: Buffer;

  constructor(root: string, temporary: string, signingKey: Buffer) {
    this.#root = root;
    this.#temporary = temporary;
    this.#signingKey = signingKey;
  }

  async put(key: ObjectKey, sizeBytes: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    const temporary = join(this.#temporary, randomUUID());
    const file = await open(temporary, "wx", 0o600);
    try {
      const hash = createHash("sha256");
      let received = 0;
      for await (const chunk of content) {
        received += chunk.byteLength;
        if (received > sizeBytes) break;
        hash.update(chunk);
        await file.writeFile(chunk);
      }
      if (received !== sizeBytes) {
        const more = received > sizeBytes ? "more" : String(received);
        throw new ContentMismatch(`The object must have ${sizeBytes} bytes as announced; it has ${more}.`);
      }
      const digest = hash.digest("hex");
      if (digest !== key.digest) {
        throw new ContentMismatch(`The object must have SHA-256 ${key.digest}; it has ${digest}.`);
      }
      await file.sync();
      await file.close();
      await mkdir(join(this.#root, key.orgId), { recursive: true, mode: 0o700 });
      await rename(temporary, this.#path(key));
      await syncDirectory(join(this.#root, key.orgId));
    } catch (error) {
      await file.close().catch(() => {});
      await rm(temporary, { force: true });
      throw error;
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

/** Makes a rename durable. Not every platform opens directories; there the rename itself has to do. */
async function syncDirectory(path: string): Promise<void> {
  try {
    const directory = await open(path, "r");
    await directory.sync().finally(() => directory.close());
  } catch {
    // Windows.
  }
}
