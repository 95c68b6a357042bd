/**
 * Unpacked packages under the data folder, by organization and digest. Runners read users' code from there.
 *
 * They are copies of stored packages, and not synced to disk: a power failure may leave empty files. A package that was
 * unpacked before the machine started is unpacked again at its first use.
 */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, renameSync, statSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { uptime } from "node:os";
import { join } from "node:path";
import { PackageError, type UnpackedFile, unpackPackage } from "../../../project/unpack.ts";
import type { Limits } from "../../config/limits.ts";
import { fail, noResource } from "../../errors.ts";
import { errorsFile } from "../../executions/runner/protocol.ts";
import type { ObjectKey, ObjectStorage } from "../../storage/contract.ts";
import { StorageError } from "../../storage/errors.ts";
import { PackageCache } from "./package-cache.ts";

/** A runner's pool adds modules to `node_modules` and writes these files unless the package has its own. */
const layout = { files: ["package.json", errorsFile], folders: ["node_modules"] };

/** A package that stays on disk until it is released. */
export interface UsedPackage {
  directory: string;
  /** May be called more than once. */
  release(): void;
}

export interface UnpackedPackage extends UsedPackage {
  files: UnpackedFile[];
}

export class Packages {
  readonly #root: string;
  readonly #storage: ObjectStorage;
  readonly #limits: Limits;
  readonly #cache: PackageCache;
  /** Running operations, so that concurrent requests for one package share the work. */
  readonly #running = new Map<string, Promise<UnpackedFile[]>>();
  readonly #bootedMs: number;
  /** Those that this process has unpacked, whatever the clock says. */
  readonly #unpacked = new Set<string>();

  /** @param bootedMs - when the machine started */
  constructor(
    dataDir: string,
    storage: ObjectStorage,
    limits: Limits,
    bootedMs: number = Date.now() - uptime() * 1000,
  ) {
    this.#bootedMs = bootedMs;
    this.#root = join(dataDir, "packages");
    this.#storage = storage;
    this.#limits = limits;
    this.#cache = new PackageCache(this.#root, limits.packageCacheBytes);
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
  }

  /** Unpacks a package unless it is on disk already. */
  async ensure(key: ObjectKey): Promise<void> {
    (await this.use(key)).release();
  }

  /** Like `ensure`, and keeps the package on disk until it is released. */
  async use(key: ObjectKey): Promise<UsedPackage> {
    const release = this.#cache.pin(idOf(key));
    try {
      if (!this.#isIntact(key)) await this.#unpackOnce(key);
      return { directory: this.#directory(key), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Unpacks a stored package and lists its files. The storage has verified its digest.
   * @throws ConnectError `invalid_argument` when svc does not accept the archive
   */
  async unpack(key: ObjectKey): Promise<UnpackedPackage> {
    const release = this.#cache.pin(idOf(key));
    try {
      const files = await this.#unpackOnce(key);
      return { directory: this.#directory(key), files, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async remove(key: ObjectKey): Promise<void> {
    this.#cache.forget(idOf(key));
    this.#unpacked.delete(idOf(key));
    await rm(this.#directory(key), { recursive: true, force: true });
  }

  /** Resolves when the packages that exceed the limit have been removed. */
  settled(): Promise<void> {
    return this.#cache.settled();
  }

  #directory(key: ObjectKey): string {
    return join(this.#root, idOf(key));
  }

  #isIntact(key: ObjectKey): boolean {
    const info = statSync(this.#directory(key), { throwIfNoEntry: false });
    return info !== undefined && (info.birthtimeMs >= this.#bootedMs || this.#unpacked.has(idOf(key)));
  }

  async #unpackOnce(key: ObjectKey): Promise<UnpackedFile[]> {
    const id = idOf(key);
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    const work = this.#unpack(key).finally(() => this.#running.delete(id));
    this.#running.set(id, work);
    return work;
  }

  async #unpack(key: ObjectKey): Promise<UnpackedFile[]> {
    const object = await this.#storage.get(key);
    if (object === null) throw noResource("package", key.digest, `There is no stored package ${key.digest}.`);
    const { packageBytes, unpackedBytes, packageFiles } = this.#limits;
    const directory = this.#directory(key);
    const fresh = `${directory}.${randomUUID()}`;
    const outdated = `${directory}.${randomUUID()}`;
    await mkdir(join(this.#root, key.orgId), { recursive: true, mode: 0o700 });
    try {
      const limits = { compressedBytes: packageBytes, unpackedBytes, files: packageFiles };
      const hash = this.#storage.isRemote;
      const { files, digest } = await unpackPackage(object.content, fresh, limits, layout, { hash });
      if (digest !== null && digest !== key.digest) {
        throw new StorageError(`it sent a package with digest ${digest} instead of ${key.digest}`);
      }
      // Runners may be using an intact folder, which holds the same files.
      if (!this.#isIntact(key)) {
        if (existsSync(directory)) renameSync(directory, outdated);
        renameSync(fresh, directory);
        this.#unpacked.add(idOf(key));
      }
      this.#cache.unpacked(idOf(key), files);
      return files;
    } catch (error) {
      if (error instanceof PackageError) throw fail("PACKAGE_INVALID", error.message);
      throw error;
    } finally {
      for (const left of [fresh, outdated]) await rm(left, { recursive: true, force: true });
    }
  }
}

const idOf = ({ orgId, digest }: ObjectKey): string => `${orgId}/${digest}`;
