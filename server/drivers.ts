/** Opens the store and the object storage that the configuration names. Part of the composition root. */
import type { Config } from "./config.ts";
import type { ObjectStorage } from "./storage/contract.ts";
import { openFileStorage } from "./storage/filesystem.ts";
import { measured } from "./storage/measured.ts";
import { prepareDataDir } from "./store/data-dir.ts";
import type { Engine } from "./store/engine.ts";
import { openSqlite } from "./store/sqlite/index.ts";
import { lockDataDir } from "./store/sqlite/lock.ts";

export interface OpenStore {
  engine: Engine;
  /** No other server uses the store: running executions of other owners have been abandoned. */
  exclusive: boolean;
  close(): Promise<void>;
}

/**
 * @param shared - lets several servers use one data folder; tests use it
 * @throws Error when another server uses the data folder, or the database cannot be opened
 */
export async function openStore({ dataDir, database }: Config, shared: boolean): Promise<OpenStore> {
  if (database !== null) {
    prepareDataDir(dataDir);
    const { openPostgres } = await import("./store/postgres/index.ts");
    const engine = await openPostgres(database);
    return { engine, exclusive: false, close: () => engine.close() };
  }
  const lock = shared ? null : lockDataDir(dataDir);
  try {
    const engine = openSqlite(dataDir);
    const close = async (): Promise<void> => {
      await engine.close();
      lock?.release();
    };
    return { engine, exclusive: lock !== null, close };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** @throws StartError when the bucket or the credentials are wrong */
export async function openStorage({ dataDir, storage, limits }: Config): Promise<ObjectStorage> {
  if (storage === null) return measured(openFileStorage(dataDir, limits));
  const { openS3Storage } = await import("./storage/s3/index.ts");
  return measured(await openS3Storage(dataDir, storage, limits));
}
