/**
 * The master key, which encrypts the secrets of organizations: 32 bytes from `SVC_MASTER_KEY` or from a file in the data
 * folder, which the first start creates.
 */
import { createHash, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

export interface MasterKey {
  /** 8 hex digits of a hash of the key, stored with each sealed secret. */
  id: string;
  key: KeyObject;
}

const keyBytes = 32;
const fileName = "master.key";

/**
 * Reads the key from the variable or, if that is empty, from `master.key` in the data folder, which must exist. If several
 * servers start at the same time on an empty folder, one creates the file and all read the same key.
 *
 * @throws Error if the variable or the file is invalid
 */
export function loadMasterKey(variable: string | undefined, dataDir: string): MasterKey {
  return readMasterKey(variable, dataDir) ?? createKeyFile(join(dataDir, fileName));
}

/**
 * Like {@link loadMasterKey}, and returns null instead of creating a key.
 *
 * @throws Error if the variable or the file is invalid
 */
export function readMasterKey(variable: string | undefined, dataDir: string): MasterKey | null {
  if (variable) return parseMasterKey(variable, "SVC_MASTER_KEY");
  return readFile(join(dataDir, fileName));
}

/** @param source - names the text in the message. @throws Error if the text is not a key */
export function parseMasterKey(text: string, source: string): MasterKey {
  return masterKey(decode(text, source));
}

/** A key in a file of its own, `master.key.<id>`: the next key during a rotation, or a former one. Null when there is none. */
export function readKeyFile(dataDir: string, id: string): MasterKey | null {
  const key = readFile(join(dataDir, `${fileName}.${id}`));
  return key?.id === id ? key : null;
}

/** Creates a key in a file of its own. */
export function createNextKey(dataDir: string): MasterKey {
  const key = randomBytes(keyBytes);
  const created = masterKey(key);
  writeKeyFile(join(dataDir, `${fileName}.${created.id}`), key);
  return created;
}

/**
 * Makes a key of a file of its own the one of `master.key`, and keeps the former one under its id: backups may need it.
 * Each file is complete at any time.
 */
export function installKey(dataDir: string, next: MasterKey, former: MasterKey): void {
  const path = join(dataDir, fileName);
  if (readFile(path)?.id === next.id) return;
  writeKeyFile(`${path}.${former.id}`, former.key.export());
  renameSync(`${path}.${next.id}`, path);
  syncFolder(path);
}

/** @param key - 32 bytes */
export function masterKey(key: Uint8Array): MasterKey {
  const id = createHash("sha256").update("svc master key id\0").update(key).digest("hex").slice(0, 8);
  return { id, key: createSecretKey(key) };
}

function decode(text: string, source: string): Uint8Array {
  const value = text.trim();
  const hex = /^[0-9a-f]{64}$/i.test(value);
  const key = Buffer.from(value, hex ? "hex" : "base64");
  if (hex || (key.length === keyBytes && /^[A-Za-z0-9+/_-]{43}=?$/.test(value))) return key;
  throw new Error(
    `Cannot use ${source}: it must be ${keyBytes} bytes as 64 hex digits or 44 characters of base64, and has ${value.length} characters.`,
  );
}

function readFile(path: string): MasterKey | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    throw error;
  }
  if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) {
    throw new Error(`Cannot use ${path}: only its owner may have access (chmod 600).`);
  }
  return masterKey(decode(text, path));
}

function createKeyFile(path: string): MasterKey {
  writeKeyFile(path, randomBytes(keyBytes));
  const created = readFile(path);
  if (created === null) throw new Error(`Cannot use ${path}: it was removed while the server started.`);
  return created;
}

/** A hard link makes the complete, synced file visible at once and never replaces the file of another process. */
function writeKeyFile(path: string, key: Buffer): void {
  const temporaryPath = `${path}.${randomBytes(8).toString("hex")}`;
  const file = openSync(temporaryPath, "wx", 0o600);
  try {
    writeSync(file, `${key.toString("base64")}\n`);
    fsyncSync(file);
    linkSync(temporaryPath, path);
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  } finally {
    closeSync(file);
    rmSync(temporaryPath, { force: true });
  }
  syncFolder(path);
}

/** Makes the new name durable. Windows cannot open a folder. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(dirname(path), "r");
  fsyncSync(folder);
  closeSync(folder);
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
