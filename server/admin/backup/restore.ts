/** `svc admin restore`: creates a data folder from a backup. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { PackageError } from "../../../project/archive/error.ts";
import { type Entry, readEntries } from "../../../project/archive/read.ts";
import { ByteReader } from "../../../project/archive/reader.ts";
import { restoringFolder } from "../../store/data-dir.ts";
import { checkVersion } from "../../store/migrate.ts";
import { contentsOf, problemsOf } from "../../store/sqlite/snapshot.ts";
import { syncFolder } from "./create.ts";
import { type Manifest, manifestName, parseManifest, storeName } from "./manifest.ts";

/** The list of a million packages has 170 MB. */
const maxManifestBytes = 256 * 1024 ** 2;

/**
 * Extracts a backup into a folder of its own, verifies it there, and moves it into place, the store last. A server refuses a
 * folder in which a restore has not ended.
 *
 * @throws Error if the data folder is not empty, or the backup is damaged or too new; the folder is then as before
 */
export async function restore(backup: AsyncIterable<Uint8Array>, dataDir: string): Promise<Manifest> {
  const root = resolve(dataDir);
  const created = createFolder(root, dataDir);
  const staging = join(root, restoringFolder);
  let moved = false;
  const remove = (): void => {
    if (moved) return;
    rmSync(staging, { recursive: true, force: true });
    if (created) rmdirSync(root);
  };
  process.once("exit", remove);
  try {
    mkdirSync(staging, { mode: 0o700 });
    const manifest = await extract(backup, staging);
    verify(join(staging, storeName), manifest);
    moved = true;
    await moveIntoPlace(staging, root);
    return manifest;
  } catch (error) {
    remove();
    if (error instanceof PackageError) {
      const reason = error.message.replace(/^The package/, "the backup").replaceAll("package", "backup");
      throw new Error(`Cannot restore: ${reason}`, { cause: error });
    }
    throw error;
  } finally {
    process.off("exit", remove);
  }
}

/** @returns whether the folder is new */
function createFolder(root: string, shown: string): boolean {
  if (!existsSync(root)) {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    return true;
  }
  if (readdirSync(root).length > 0) {
    throw new Error(`Cannot restore into ${shown}: the folder must be empty or new.`);
  }
  return false;
}

async function extract(backup: AsyncIterable<Uint8Array>, staging: string): Promise<Manifest> {
  const reader = new ByteReader(backup);
  let manifest: Manifest | null = null;
  let extracted = 0;
  for await (const entry of readEntries(reader, { files: Number.POSITIVE_INFINITY })) {
    if (manifest === null) manifest = await readManifest(entry, reader);
    else await extractFile(entry, manifest, extracted++, reader, staging);
  }
  if (manifest === null) throw new Error(`Cannot restore: the file is not a backup of svc.`);
  const missing = manifest.files[extracted];
  if (missing !== undefined) throw new Error(`Cannot restore: the backup has no ${missing.path}.`);
  return manifest;
}

async function readManifest(entry: Entry, reader: ByteReader): Promise<Manifest> {
  if (entry.path !== manifestName || entry.sizeBytes > maxManifestBytes) {
    throw new Error("Cannot restore: the file is not a backup of svc.");
  }
  const text = new TextDecoder().decode(await reader.take(entry.sizeBytes));
  let manifest: Manifest;
  try {
    manifest = parseManifest(text);
  } catch (error) {
    throw new Error(`Cannot restore the backup: ${(error as Error).message}.`, { cause: error });
  }
  checkVersion(manifest.schema_version, manifest.compatible_from);
  return manifest;
}

/** Entries must be those of the manifest, in its order. */
async function extractFile(
  entry: Entry,
  { files }: Manifest,
  index: number,
  reader: ByteReader,
  staging: string,
): Promise<void> {
  const listed = files[index];
  if (
    listed === undefined ||
    entry.isFolder ||
    entry.path !== listed.path ||
    entry.sizeBytes !== listed.size_bytes
  ) {
    throw new Error(`Cannot restore: entry ${index + 2} of the backup differs from ${manifestName}.`);
  }
  const target = join(staging, listed.path);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const hash = createHash("sha256");
  await using file = await open(target, "wx", 0o600);
  for await (const part of reader.parts(entry.sizeBytes)) {
    hash.update(part);
    await file.writeFile(part);
  }
  await file.sync();
  if (hash.digest("hex") !== listed.sha256) {
    throw new Error(
      `Cannot restore: ${listed.path} in the backup has another digest than ${manifestName} says.`,
    );
  }
}

/** @throws Error if the store is damaged, or has other rows than the manifest says */
function verify(store: string, manifest: Manifest): void {
  const [problem] = problemsOf(store);
  if (problem !== undefined)
    throw new Error(`Cannot restore: the store in the backup is damaged: ${problem}.`);
  const contents = contentsOf(store);
  checkVersion(contents.schemaVersion, contents.compatibleFrom);
  for (const [table, rows] of Object.entries(contents.tables)) {
    if (manifest.tables[table] === rows) continue;
    throw new Error(
      `Cannot restore: table ${table} has ${rows} rows, and ${manifestName} says ${manifest.tables[table]}.`,
    );
  }
}

async function moveIntoPlace(staging: string, root: string): Promise<void> {
  const names = readdirSync(staging).filter((name) => name !== storeName);
  for (const name of [...names, storeName]) renameSync(join(staging, name), join(root, name));
  await syncFolder(root);
  rmdirSync(staging);
  await syncFolder(root);
}
