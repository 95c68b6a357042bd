/** The store on which `svc admin` works: PostgreSQL when it is configured, else the one in a data folder. */
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseConfig } from "../config.ts";
import { type Engine, first } from "../store/engine.ts";
import { openSqlite } from "../store/sqlite/index.ts";
import { isServing, lockDataDir } from "../store/sqlite/lock.ts";
import { syncFolder } from "./backup/create.ts";
import { storeName } from "./backup/manifest.ts";

export interface StoreLocation {
  dataDir: string;
  /** Null selects the store in the data folder. */
  database: DatabaseConfig | null;
}

export interface AdminStore {
  engine: Engine;
  /** Whether a server uses the store now. */
  isServing(): Promise<boolean>;
  /** Runs work while no server uses the store. @throws Error when one does */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Servers are recognized by the names of their connections. */
const COUNT_SERVERS = `SELECT COUNT(*) AS count FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'svc'`;

/** @throws Error if the data folder contains no store, or the database cannot be reached */
export function openAdminStore({ dataDir, database }: StoreLocation): Promise<AdminStore> {
  return database === null ? openEmbedded(dataDir) : openDatabase(database);
}

/** @throws Error if the folder contains no store */
export async function openEmbedded(dataDir: string): Promise<AdminStore> {
  if (!existsSync(join(dataDir, storeName))) {
    throw new Error(
      `Cannot open the store: ${dataDir} contains none; pass the server's data folder with --data.`,
    );
  }
  return {
    engine: openSqlite(dataDir),
    isServing: async () => isServing(dataDir),
    async exclusively(work) {
      const lock = lockDataDir(dataDir);
      try {
        return await work();
      } finally {
        lock.release();
      }
    },
  };
}

/** A store that is being created. */
export interface NewStore {
  engine: Engine;
  /** Moves the store to its place. */
  complete(): Promise<void>;
  /** Removes what is not complete. */
  discard(): Promise<void>;
}

/** Creates a store in a folder. @throws Error if the folder contains one, or a server uses it */
export async function createEmbedded(dataDir: string): Promise<NewStore> {
  const lock = lockDataDir(dataDir);
  const path = join(dataDir, storeName);
  const staging = join(dataDir, "importing");
  if (existsSync(path)) {
    lock.release();
    throw new Error(`Cannot copy the store: the target must be empty, and ${dataDir} contains a store.`);
  }
  // Of an import that was killed.
  await rm(staging, { recursive: true, force: true });
  const engine = openSqlite(staging);
  return {
    engine,
    async complete() {
      await engine.close();
      await rename(join(staging, storeName), path);
      await syncFolder(dataDir);
    },
    async discard() {
      await engine.close();
      await rm(staging, { recursive: true, force: true });
      lock.release();
    },
  };
}

export async function openDatabase({ url }: DatabaseConfig): Promise<AdminStore> {
  const { openPostgres } = await import("../store/postgres/index.ts");
  const engine = await openPostgres({ url, connections: 3, applicationName: "svc admin" });
  const isServing = async (): Promise<boolean> => {
    const row = await engine.read(() => first<{ count: number }>(COUNT_SERVERS));
    return (row?.count ?? 0) > 0;
  };
  return {
    engine,
    isServing,
    async exclusively(work) {
      if (await isServing())
        throw new Error("Cannot change the store: a server uses the database; stop all servers.");
      return work();
    },
  };
}
