/**
 * The format of a backup: a tar archive whose first entry, `manifest.json`, lists its files: `svc.db`, the packages as
 * `objects/<organization>/<digest>`, and `master.key` on request.
 */
import type { Contents } from "../../store/sqlite/snapshot.ts";

export const manifestName = "manifest.json";
export const storeName = "svc.db";
export const masterKeyName = "master.key";
export const masterKeyPattern: RegExp = /^master\.key(?:\.[0-9a-f]{8})?$/;

const formatVersion = 1;

export interface BackedUpFile {
  path: string;
  size_bytes: number;
  /** SHA-256 in lower-case hex. */
  sha256: string;
}

export interface Manifest {
  format: number;
  /** Of the program that made the backup. */
  svc_version: string;
  /** Everything acknowledged before this time is in the backup. RFC 3339. */
  created_at: string;
  schema_version: number;
  compatible_from: number | null;
  /** Rows by table. */
  tables: Record<string, number>;
  /** `storage` when the packages are in S3 and not in the backup. */
  packages: "included" | "storage";
  master_key: boolean;
  /** In the order of the archive. */
  files: BackedUpFile[];
}

export function newManifest(
  { schemaVersion, compatibleFrom, tables }: Contents,
  rest: Pick<Manifest, "svc_version" | "created_at" | "packages" | "master_key" | "files">,
): Manifest {
  return {
    format: formatVersion,
    svc_version: rest.svc_version,
    created_at: rest.created_at,
    schema_version: schemaVersion,
    compatible_from: compatibleFrom,
    tables,
    packages: rest.packages,
    master_key: rest.master_key,
    files: rest.files,
  };
}

/** Names that a backup may contain. No other path is ever written. */
const knownPath = /^(?:svc\.db|master\.key(?:\.[0-9a-f]{8})?|objects\/org_[0-9a-z]{26}\/[0-9a-f]{64})$/;

/** @throws Error with the reason */
export function parseManifest(text: string): Manifest {
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(text) as Partial<Manifest>;
  } catch (error) {
    throw new Error(`${manifestName} is not JSON`, { cause: error });
  }
  if (typeof manifest !== "object" || manifest === null) throw new Error(`${manifestName} is not an object`);
  if (manifest.format !== formatVersion) {
    throw new Error(
      `it has format ${String(manifest.format).slice(0, 20)}, and this program restores ${formatVersion}`,
    );
  }
  const { files, tables, schema_version } = manifest;
  if (!Number.isSafeInteger(schema_version)) throw new Error(`${manifestName} has no schema version`);
  if (typeof tables !== "object" || tables === null) throw new Error(`${manifestName} has no tables`);
  if (!Array.isArray(files)) throw new Error(`${manifestName} has no files`);
  const seen = new Set<string>();
  for (const file of files as Partial<BackedUpFile>[]) {
    const { path, size_bytes, sha256 } = file ?? {};
    if (typeof path !== "string" || !knownPath.test(path)) {
      throw new Error(
        `${manifestName} lists ${JSON.stringify(path)?.slice(0, 100)}, which no backup contains`,
      );
    }
    if (seen.has(path)) throw new Error(`${manifestName} lists ${path} twice`);
    seen.add(path);
    if (!Number.isSafeInteger(size_bytes) || Number(size_bytes) < 0 || !/^[0-9a-f]{64}$/.test(sha256 ?? "")) {
      throw new Error(`${manifestName} has no size and digest of ${path}`);
    }
  }
  if (!seen.has(storeName)) throw new Error(`${manifestName} does not list ${storeName}`);
  return manifest as Manifest;
}
