import { createHash } from "node:crypto";
import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Entry } from "./entries.ts";
import { PackageError } from "./error.ts";
import { shown } from "./paths.ts";
import type { ByteReader } from "./reader.ts";

/** Up to this size a file is written at once and beside others; larger ones pass through piece by piece. */
const smallBytes = 256 * 1024;
/** Small files under way at a time: together they hold at most 4 MiB. */
const maxPending = 16;

/** Writes the files of an archive into a folder of its own. */
export class FolderWriter {
  readonly #root: string;
  readonly #pending = new Set<Promise<void>>();
  #failure: { error: unknown } | null = null;

  constructor(root: string) {
    this.#root = root;
  }

  async makeFolders(paths: readonly string[]): Promise<void> {
    for (const path of paths) await naming(path, mkdir(join(this.#root, path)));
  }

  /** Returns the SHA-256 of the content, in lower-case hex. */
  async writeFile({ path, sizeBytes, executable }: Entry, reader: ByteReader): Promise<string> {
    const target = join(this.#root, path);
    const mode = executable ? 0o755 : 0o644;
    const hash = createHash("sha256");
    if (sizeBytes <= smallBytes) {
      const bytes = await reader.take(sizeBytes);
      // Never over what is there: the folder is new, and no path comes twice.
      await this.#start(naming(path, writeFile(target, bytes, { mode, flag: "wx" })));
      return hash.update(bytes).digest("hex");
    }
    const file = await naming(path, open(target, "wx", mode));
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

  /** Waits for everything that was begun; throws what went wrong first. */
  async finish(): Promise<void> {
    await Promise.all(this.#pending);
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #start(work: Promise<void>): Promise<void> {
    const guarded = work
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#pending.delete(guarded));
    this.#pending.add(guarded);
    if (this.#pending.size >= maxPending) await Promise.race(this.#pending);
    if (this.#failure !== null) throw this.#failure.error;
  }
}

/** Names that this file system cannot hold are the package's fault. */
async function naming<Result>(path: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENAMETOOLONG" && code !== "EILSEQ" && code !== "EINVAL") throw error;
    const message = `The package has the path ${shown(path)}, which this file system cannot hold.`;
    throw new PackageError("malformed", message, { cause: error });
  }
}
