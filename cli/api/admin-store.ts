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

async function onStore<Result>(
  dataFolder: string | undefined,
  work: (location: StoreLocation) => Promise<Result>,
): Promise<Result> {
  const { database } = await import("../../server/config.ts");
  let advice = "`svc admin` needs the data folder of `svc serve`; pass it with --data.";
  try {
    const location = {
      dataDir: dataFolder ?? (process.env.SVC_DATA_DIR || ".svc"),
      database: database(process.env),
    };
    if (location.database !== null)
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
