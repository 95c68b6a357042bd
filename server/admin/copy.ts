/** `svc admin export` and `import`: move a store between a data folder and PostgreSQL. */
import type { DatabaseConfig } from "../config.ts";
import { type CopiedTable, copyStore, tablesOf } from "../store/copy.ts";
import { run } from "../store/engine.ts";
import { createEmbedded, openDatabase, openEmbedded } from "./store.ts";

/** The columns that PostgreSQL numbers by itself continue after the copied numbers. */
const CONTINUE_NUMBERS = `SELECT setval(pg_get_serial_sequence('deployment_events', 'seq'),
  (SELECT COALESCE(MAX(seq), 0) + 1 FROM deployment_events), false)`;

/**
 * Copies the store of a data folder to an empty database.
 * @throws Error if a server uses either store, the database is not empty, or the copy differs
 */
export async function exportStore(dataDir: string, database: DatabaseConfig): Promise<CopiedTable[]> {
  const source = await openEmbedded(dataDir);
  try {
    const target = await openDatabase(database);
    try {
      return await source.exclusively(() =>
        target.exclusively(async () => {
          const copied = await copyStore(source.engine, target.engine, await tablesOf(source.engine));
          await target.engine.write(() => run(CONTINUE_NUMBERS));
          return copied;
        }),
      );
    } finally {
      await target.engine.close();
    }
  } finally {
    await source.engine.close();
  }
}

/**
 * Copies the store of a database to a data folder that contains none. The store appears complete or not at all: it is
 * copied to a folder of its own, and then moved.
 * @throws Error if a server uses the database, the folder contains a store, or the copy differs
 */
export async function importStore(database: DatabaseConfig, dataDir: string): Promise<CopiedTable[]> {
  const source = await openDatabase(database);
  try {
    return await source.exclusively(async () => {
      const target = await createEmbedded(dataDir);
      try {
        const copied = await copyStore(source.engine, target.engine, await tablesOf(target.engine));
        await target.complete();
        return copied;
      } finally {
        await target.discard();
      }
    });
  } finally {
    await source.engine.close();
  }
}
