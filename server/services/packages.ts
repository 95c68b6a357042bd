/** Unpacked packages under the data folder, by organization and digest. Runners read users' code from there. */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { PackageError, type UnpackedFile, unpackPackage } from "../../project/unpack.ts";
import type { Limits } from "../config.ts";
import { fail, invalid } from "../errors.ts";
import { errorsFile } from "../executions/runner/protocol.ts";
import type { ObjectKey, ObjectStorage } from "../storage/contract.ts";

/** A runner's pool adds modules to `node_modules` and writes these files unless the package has its own. */
const layout = { files: ["package.json", errorsFile], folders: ["node_modules"] };

export class Packages {
  readonly #root: string;
  readonly #storage: ObjectStorage;
  readonly #limits: Limits;
  /** Running operations, so that concurrent requests for one package share the work. */
  readonly #running = new Map<string, Promise<UnpackedFile[]>>();

  constructor(dataDir: string, storage: ObjectStorage, limits: Limits) {
    this.#root = join(dataDir, "packages");
    this.#storage = storage;
    this.#limits = limits;
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
  }

  directory(key: ObjectKey): string {
    return join(this.#root, key.orgId, key.digest);
  }

  /** The folder of a deployed package. Unpacks the package when the folder does not exist. */
  async ensure(key: ObjectKey): Promise<string> {
    if (!existsSync(this.directory(key))) await this.unpack(key);
    return this.directory(key);
  }

  /**
   * Unpacks a stored package and lists its files. The storage has verified its digest.
   * @throws ConnectError `invalid_argument` when svc does not accept the archive
   */
  async unpack(key: ObjectKey): Promise<UnpackedFile[]> {
    const id = `${key.orgId}/${key.digest}`;
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    const work = this.#unpack(key).finally(() => this.#running.delete(id));
    this.#running.set(id, work);
    return work;
  }

  async #unpack(key: ObjectKey): Promise<UnpackedFile[]> {
    const object = await this.#storage.get(key);
    if (object === null) throw fail(Code.NotFound, `There is no stored package ${key.digest}.`);
    const { packageBytes, unpackedBytes, packageFiles } = this.#limits;
    const directory = this.directory(key);
    const fresh = `${directory}.${randomUUID()}`;
    await mkdir(join(this.#root, key.orgId), { recursive: true, mode: 0o700 });
    try {
      const limits = { compressedBytes: packageBytes, unpackedBytes, files: packageFiles };
      const { files } = await unpackPackage(object.content, fresh, limits, layout);
      // Runners may be using the existing folder, which holds the same files.
      if (!existsSync(directory)) await rename(fresh, directory);
      return files;
    } catch (error) {
      if (error instanceof PackageError) throw invalid(error.message);
      throw error;
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }

  async remove(key: ObjectKey): Promise<void> {
    await rm(this.directory(key), { recursive: true, force: true });
  }
}
