import { createHash } from "node:crypto";
import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PackageError } from "./error.ts";
import { displayPath } from "./paths.ts";
import type { Entry } from "./read.ts";
import type { ByteReader } from "./reader.ts";

/** Files up to this size are written in the background; larger ones are streamed one at a time. */
const smallFileBytes = 256 * 1024;
/** Background writes at a time, which hold at most 4 MiB together. */
const maxPendingWrites = 16;

/** Writes the entries of an archive into a new folder. */
export class FolderWriter {
  readonly #root: string;
  readonly #pending = new Set<Promise<void>>();
  #failure: { error: unknown } | null = null;

  constructor(root: string) {
    this.#root = root;
  }

  async makeFolders(paths: readonly string[]): Promise<void> {
    for (const path of paths) await checkingPath(path, mkdir(join(this.#root, path)));
  }

  /** Returns the SHA-256 of the content, in lower-case hex. */
  async writeFile({ path, sizeBytes, executable }: Entry, reader: ByteReader): Promise<string> {
    const target = join(this.#root, path);
    const mode = executable ? 0o755 : 0o644;
    const hash = createHash("sha256");
    if (sizeBytes <= smallFileBytes) {
      const bytes = await reader.take(sizeBytes);
      // `wx` never overwrites: the folder is new, and no path occurs twice.
      await this.#start(checkingPath(path, writeFile(target, bytes, { mode, flag: "wx" })));
      return hash.update(bytes).digest("hex");
    }
    const file = await checkingPath(path, open(target, "wx", mode));
    try {
      for await (const part of reader.parts(sizeBytes)) {
        hash.update(part);
        await file.writeFile(part);
      }
    } finally {
      await file.close();
    }
    return hash.digest("hex");
  }

  /** Waits for all background writes. @throws the first error among them */
  async finish(): Promise<void> {
    await Promise.all(this.#pending);
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #start(write: Promise<void>): Promise<void> {
    const guarded = write
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#pending.delete(guarded));
    this.#pending.add(guarded);
    if (this.#pending.size >= maxPendingWrites) await Promise.race(this.#pending);
    if (this.#failure !== null) throw this.#failure.error;
  }
}

/** Reports a path that this file system does not accept as an error of the package. */
async function checkingPath<Result>(path: string, operation: Promise<Result>): Promise<Result> {
  try {
    return await operation;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENAMETOOLONG" && code !== "EILSEQ" && code !== "EINVAL") throw error;
    const message = `The package has the path ${displayPath(path)}, which this file system cannot hold.`;
    throw new PackageError("malformed", message, { cause: error });
  }
}
