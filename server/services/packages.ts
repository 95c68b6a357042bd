/** Unpacked packages under the data folder, by organization and digest: where the children read users' code. */

import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { PackageError, type UnpackedFile, unpackPackage } from "../../project/unpack.ts";
import type { Limits } from "../config.ts";
import { fail, invalid } from "../errors.ts";
import type { ObjectKey, ObjectStorage } from "../storage/contract.ts";

export class Packages {
  readonly #root: string;
  readonly #storage: ObjectStorage;
  readonly #limits: Limits;
  /** Unpackings under way, so that two who need the same package wait for one. */
  readonly #working = new Map<string, Promise<UnpackedFile[]>>();

  constructor(dataDir: string, storage: ObjectStorage, limits: Limits) {
    this.#root = join(dataDir, "packages");
    this.#storage = storage;
    this.#limits = limits;
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
  }

  directory(key: ObjectKey): string {
    return join(this.#root, key.orgId, key.digest);
  }

  /** The folder of an unpacked package, unpacking it if that was not done or is gone. */
  async ensure(key: ObjectKey): Promise<string> {
    if (!existsSync(this.directory(key))) await this.unpack(key);
    return this.directory(key);
  }

  /**
   * Unpacks a stored package anew and lists its files.
   * @throws ConnectError `invalid_argument` when the archive is not one that svc accepts.
   */
  async unpack(key: ObjectKey): Promise<UnpackedFile[]> {
    const id = `${key.orgId}/${key.digest}`;
    const working = this.#working.get(id);
    if (working !== undefined) return working;
    const work = this.#unpack(key).finally(() => this.#working.delete(id));
    this.#working.set(id, work);
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
      const { files } = await unpackPackage(object.content, fresh, limits);
      // Children may be running from the folder of before, which holds the same files.
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
