/** `svc admin backup`: one file with everything that a data folder needs, while the server runs or not. */
import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { writeTar } from "../../../project/archive/write.ts";
import type { CollectedFile } from "../../../project/package-file.ts";
import {
  type Contents,
  contentsOf,
  copySnapshot,
  objectsOf,
  removeObjects,
  type StoredObject,
} from "../../store/sqlite/snapshot.ts";
import { version } from "../../version.ts";
import {
  type BackedUpFile,
  type Manifest,
  manifestName,
  masterKeyName,
  masterKeyPattern,
  newManifest,
  storeName,
} from "./manifest.ts";

export interface BackupOptions {
  /** Null writes the backup to `output`. */
  file: string | null;
  output: NodeJS.WritableStream;
  /** Replaces an existing file. */
  overwrite: boolean;
  withMasterKey: boolean;
  /** Packages are in S3, and not part of the backup. */
  packagesInStorage: boolean;
}

export interface Backup {
  manifest: Manifest;
  sizeBytes: number;
}

/**
 * The file has mode 600 and appears complete: it is written under a temporary name, synced and renamed.
 * @throws Error if the folder contains no store, or the file exists, or a file of the backup is missing
 */
export async function backUp(dataDir: string, options: BackupOptions): Promise<Backup> {
  checkSource(dataDir, options);
  const target = options.file === null ? null : resolve(options.file);
  if (target !== null && existsSync(target) && !options.overwrite) {
    throw new Error(`Cannot write ${options.file}: it already exists; pass another name or --overwrite.`);
  }
  if (target !== null && !existsSync(dirname(target))) {
    throw new Error(`Cannot write ${options.file}: its folder does not exist.`);
  }
  const temporary = target === null ? join(dataDir, "backup") : join(dirname(target), `.${basename(target)}`);
  const copy = `${temporary}.${randomUUID()}.db`;
  const partial = `${temporary}.${randomUUID()}.partial`;
  const remove = (): void => {
    for (const path of [copy, `${copy}-journal`, partial]) rmSync(path, { force: true });
  };
  // SIGINT ends a command with `process.exit`.
  process.once("exit", remove);
  try {
    const createdAt = new Date().toISOString();
    copySnapshot(dataDir, copy);
    const files = collect(dataDir, copy, options);
    const manifest = newManifest(readContents(copy), {
      svc_version: version,
      created_at: createdAt,
      packages: options.packagesInStorage ? "storage" : "included",
      master_key: options.withMasterKey,
      files: await digests(files),
    });
    const bytes = archive(manifest, files);
    if (target === null) return { manifest, sizeBytes: await send(bytes, options.output) };
    const sizeBytes = await store(bytes, partial);
    await rename(partial, target);
    await syncFolder(dirname(target));
    return { manifest, sizeBytes };
  } finally {
    remove();
    process.off("exit", remove);
  }
}

function checkSource(dataDir: string, { withMasterKey }: BackupOptions): void {
  if (!existsSync(join(dataDir, storeName))) {
    throw new Error(
      `Cannot back up the store: ${dataDir} contains none; pass the server's data folder with --data.`,
    );
  }
  if (withMasterKey && !existsSync(join(dataDir, masterKeyName))) {
    throw new Error(
      `Cannot back up the master key: ${dataDir} contains no ${masterKeyName}; a key in SVC_MASTER_KEY is kept where the variable is set.`,
    );
  }
}

/** The files of the backup. Rows of packages that nothing needs, and that were deleted meanwhile, leave the copy. */
function collect(dataDir: string, copy: string, options: BackupOptions): CollectedFile[] {
  const objects = options.packagesInStorage ? [] : objectsOf(copy);
  const pathOf = ({ org_id, digest }: StoredObject): string => `objects/${org_id}/${digest}`;
  const gone = objects.filter((object) => !existsSync(join(dataDir, pathOf(object))));
  const [missing] = gone.filter(({ used }) => used === 1);
  if (missing !== undefined) {
    throw new Error(
      `Cannot back up the package ${pathOf(missing)}: the file is missing in ${dataDir}; if the server keeps packages in S3, set SVC_STORAGE_URL, else delete the deployments that use it.`,
    );
  }
  removeObjects(copy, gone);
  const file = (path: string, absolutePath: string): CollectedFile => ({
    path,
    absolutePath,
    sizeBytes: statSync(absolutePath).size,
    executable: false,
  });
  return [
    file(storeName, copy),
    ...objects
      .filter((object) => !gone.includes(object))
      .map((object) => file(pathOf(object), join(dataDir, pathOf(object)))),
    ...(options.withMasterKey ? masterKeys(dataDir).map((name) => file(name, join(dataDir, name))) : []),
  ];
}

/** The key, and the next and former keys of a rotation. */
function masterKeys(dataDir: string): string[] {
  return readdirSync(dataDir).filter((name) => masterKeyPattern.test(name));
}

function readContents(copy: string): Contents {
  try {
    return contentsOf(copy);
  } catch (error) {
    throw new Error("Cannot back up the store: it has no schema yet; start the server once.", {
      cause: error,
    });
  }
}

async function digests(files: readonly CollectedFile[]): Promise<BackedUpFile[]> {
  const listed: BackedUpFile[] = [];
  for (const { path, absolutePath, sizeBytes } of files) {
    const hash = createHash("sha256");
    for await (const part of createReadStream(absolutePath, { highWaterMark: 1024 ** 2 })) hash.update(part);
    listed.push({ path, size_bytes: sizeBytes, sha256: hash.digest("hex") });
  }
  return listed;
}

/** @throws Error when a file has another digest than the manifest says */
function* archive(manifest: Manifest, files: readonly CollectedFile[]): Generator<Uint8Array, void, void> {
  const content = new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`);
  const first = {
    path: manifestName,
    absolutePath: "",
    sizeBytes: content.length,
    executable: false,
    content,
  };
  const expected = new Map(manifest.files.map(({ path, sha256 }) => [path, sha256]));
  yield* writeTar([first, ...files], (path, digest) => {
    if (path === manifestName || expected.get(path) === digest) return;
    throw new Error(`Cannot back up ${path}: it changed meanwhile; run the command again.`);
  });
}

async function store(bytes: Iterable<Uint8Array>, path: string): Promise<number> {
  const output = createWriteStream(path, { flags: "wx", mode: 0o600 });
  await pipeline(bytes, output);
  await using file = await open(path, "r+");
  await file.sync();
  return output.bytesWritten;
}

async function send(bytes: Iterable<Uint8Array>, output: NodeJS.WritableStream): Promise<number> {
  let sizeBytes = 0;
  const counted = function* (): Generator<Uint8Array, void, void> {
    for (const part of bytes) {
      sizeBytes += part.length;
      yield part;
    }
  };
  await pipeline(counted, output, { end: false });
  return sizeBytes;
}

/** Makes a rename durable, on platforms that can open a folder. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  await using folder = await open(path, "r");
  await folder.sync();
}
