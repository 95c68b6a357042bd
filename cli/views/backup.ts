import type { Manifest } from "../../server/admin/backup/manifest.ts";

/** The document of `svc admin backup` and `restore`. */
export function backupJson(manifest: Manifest): object {
  const { svc_version, created_at, schema_version, master_key, packages, tables } = manifest;
  return {
    svc_version,
    created_at,
    schema_version,
    master_key,
    packages_in: packages === "storage" ? "storage" : "backup",
    packages: packagesIn(manifest),
    tables,
  };
}

export function packagesIn({ files }: Manifest): number {
  return files.filter(({ path }) => path.startsWith("objects/")).length;
}
