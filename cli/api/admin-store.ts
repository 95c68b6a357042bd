import type { Backup } from "../../server/admin/backup/create.ts";
import type { Manifest } from "../../server/admin/backup/manifest.ts";
import type { Admin } from "../../server/admin/index.ts";
import type { StoreLocation } from "../../server/admin/store.ts";
import type { DatabaseConfig } from "../../server/config.ts";
import type { CopiedTable } from "../../server/store/copy.ts";
import { CliError } from "../app/errors.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";

/** Opens the store of the service, whether or not a server uses it, and runs `work` with it. */
export async function withStore<Result>(
  dataFolder: string | undefined,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  const { openAdmin } = await import("../../server/admin/index.ts");
  return onStore(dataFolder, async (location) => {
    const admin = await openAdmin(location);
    try {
      return await work(admin);
    } finally {
      await admin.close();
    }
  });
}

/** Copies the embedded store to the database, or back. */
export function copyStore(
  direction: "export" | "import",
  dataFolder: string | undefined,
): Promise<CopiedTable[]> {
  return onStore(dataFolder, async (location) => {
    const { exportStore, importStore } = await import("../../server/admin/copy.ts");
    const { dataDir } = location;
    const database = databaseOf(location);
    return direction === "export" ? exportStore(dataDir, database) : importStore(database, dataDir);
  });
}

/** Writes the embedded store and its packages to a file, or to standard output. */
export function backUpStore(
  dataFolder: string | undefined,
  options: { file: string | null; overwrite: boolean; withMasterKey: boolean },
): Promise<Backup> {
  return onStore(
    dataFolder,
    async ({ dataDir, database }) => {
      if (database !== null) throw new Error(`Cannot back up the store: ${inDatabase}`);
      const { backUp } = await import("../../server/admin/backup/create.ts");
      const packagesInStorage = Boolean(process.env.SVC_STORAGE_URL);
      return backUp(dataDir, { ...options, output: process.stdout, packagesInStorage });
    },
    "No backup was written.",
  );
}

/** Creates a data folder from a backup. */
export function restoreStore(
  backup: () => AsyncIterable<Uint8Array>,
  dataFolder: string | undefined,
): Promise<Manifest> {
  return onStore(
    dataFolder,
    async ({ dataDir, database }) => {
      if (database !== null) throw new Error(`Cannot restore the store: ${inDatabase}`);
      const { restore } = await import("../../server/admin/backup/restore.ts");
      return restore(backup(), dataDir);
    },
    "Nothing was restored.",
  );
}

const inDatabase =
  "SVC_DATABASE_URL is set, and the store is in PostgreSQL; use the means of the database, for example pg_dump and pg_restore or point-in-time recovery, and versions of the bucket for the packages.";

async function onStore<Result>(
  dataFolder: string | undefined,
  work: (location: StoreLocation) => Promise<Result>,
  ownAdvice?: string,
): Promise<Result> {
  const { database } = await import("../../server/config.ts");
  let advice =
    ownAdvice ??
    (dataFolder === undefined
      ? "`svc admin` needs the data folder of `svc serve`; pass it with --data."
      : "Fix the reported problem and run the command again.");
  try {
    const location = {
      dataDir: dataFolder ?? (process.env.SVC_DATA_DIR || ".svc"),
      database: database(process.env),
    };
    if (location.database !== null && ownAdvice === undefined)
      advice = "SVC_DATABASE_URL selects the database; without it, the store is in the data folder.";
    return await work(location);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CliError(sanitizeLine(message), advice, { cause: error });
  }
}

/** @throws Error when SVC_DATABASE_URL is not set */
function databaseOf({ database }: StoreLocation): DatabaseConfig {
  if (database !== null) return database;
  throw new Error("SVC_DATABASE_URL is not set: it must be the URL of the PostgreSQL database.");
}
