/**
 * Bounds the disk space of unpacked packages: the least recently used ones are removed. A package is *pinned* while
 * runners or a deployment use it, and is not removed then, so that the limit may be exceeded.
 *
 * The folder's modification time is its last use, which survives a restart.
 */
import { randomUUID } from "node:crypto";
import { renameSync } from "node:fs";
import { lstat, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { log, reasonOf } from "../../telemetry/log/index.ts";

interface Entry {
  /** 0 until it is unpacked. */
  bytes: number;
  lastUsedMs: number;
  pins: number;
}

const blockBytes = 4096;
/** Temporary folders of running operations are younger. */
const leftoverMs = 3_600_000;
const digestPattern = /^[0-9a-f]{64}$/;

export class PackageCache {
  readonly #root: string;
  readonly #maxBytes: number;
  /** By path below the root: `<org>/<digest>`. */
  readonly #entries = new Map<string, Entry>();
  #scanned: Promise<void> | null = null;
  #evicting: Promise<void> = Promise.resolve();

  constructor(root: string, maxBytes: number) {
    this.#root = root;
    this.#maxBytes = maxBytes;
  }

  /** Keeps a package until the returned function is called. The package may still have to be unpacked. */
  pin(id: string): () => void {
    const entry = this.#entries.get(id) ?? { bytes: 0, lastUsedMs: 0, pins: 0 };
    this.#entries.set(id, entry);
    entry.pins += 1;
    entry.lastUsedMs = Date.now();
    utimes(join(this.#root, id), new Date(), new Date()).catch(() => {}); // It may not be unpacked yet.
    let isPinned = true;
    return () => {
      if (!isPinned) return;
      isPinned = false;
      entry.pins -= 1;
      entry.lastUsedMs = Date.now();
      if (entry.pins > 0) return;
      if (entry.bytes === 0 && this.#entries.get(id) === entry) this.#entries.delete(id);
      this.#evict();
    };
  }

  /** Records the size of a package that was unpacked. */
  unpacked(id: string, files: readonly { sizeBytes: number }[]): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.bytes = files.reduce((sum, { sizeBytes }) => sum + onDisk(sizeBytes), 0);
    this.#evict();
  }

  forget(id: string): void {
    this.#entries.delete(id);
  }

  /** Resolves when all evictions that have begun are complete. */
  settled(): Promise<void> {
    return this.#evicting;
  }

  #evict(): void {
    this.#evicting = this.#evicting
      .then(() => this.#evictOldest())
      .catch((error: unknown) => {
        log.error("Cannot remove unpacked packages", { reason: reasonOf(error) });
      });
  }

  async #evictOldest(): Promise<void> {
    this.#scanned ??= this.#scan();
    await this.#scanned;
    let total = 0;
    for (const { bytes } of this.#entries.values()) total += bytes;
    const oldest = [...this.#entries].toSorted(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs);
    for (const [id, entry] of oldest) {
      if (total <= this.#maxBytes) return;
      if (entry.pins > 0 || entry.bytes === 0) continue;
      this.#entries.delete(id);
      total -= entry.bytes;
      // Synchronous, so that a package that is pinned afterwards is not found any more.
      const removed = join(this.#root, `${id}.${randomUUID()}`);
      renameSync(join(this.#root, id), removed);
      await rm(removed, { recursive: true, force: true });
    }
  }

  /** Finds the packages of earlier runs of the server, and removes folders that a crash has left. */
  async #scan(): Promise<void> {
    for (const org of await readdir(this.#root)) {
      for (const name of await readdir(join(this.#root, org))) {
        const id = `${org}/${name}`;
        const path = join(this.#root, id);
        const info = await stat(path).catch(() => null);
        if (info === null || (this.#entries.get(id)?.bytes ?? 0) > 0) continue;
        if (digestPattern.test(name)) this.#found(id, info.mtimeMs, await folderBytes(path));
        else if (info.mtimeMs < Date.now() - leftoverMs) await rm(path, { recursive: true, force: true });
      }
    }
  }

  #found(id: string, lastUsedMs: number, bytes: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) this.#entries.set(id, { bytes, lastUsedMs, pins: 0 });
    else if (entry.bytes === 0) entry.bytes = bytes;
  }
}

function onDisk(sizeBytes: number): number {
  return Math.ceil(sizeBytes / blockBytes) * blockBytes;
}

async function folderBytes(path: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const info = await lstat(join(entry.parentPath, entry.name)).catch(() => null);
    bytes += onDisk(info?.size ?? 0);
  }
  return bytes;
}
