/** The stores on which the suite of this folder runs: both engines, each test with an empty store of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Engine } from "../../server/store/engine.ts";
import { openPostgres, type PostgresOptions } from "../../server/store/postgres/index.ts";
import { openSqlite } from "../../server/store/sqlite/index.ts";
import { createDatabase } from "../support/postgres/databases.ts";

export interface Store {
  /** Opens a handle, as another process does. It is closed after the test. */
  open(): Promise<Engine>;
}

export const stores = {
  async sqlite(): Promise<Store> {
    const folder = mkdtempSync(join(tmpdir(), "svc-store-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return { open: async () => closeAfterTest(openSqlite(folder)) };
  },

  async postgres(): Promise<Store> {
    const database = await newDatabase();
    // The tests do not depend on a quiet machine.
    return { open: () => openDatabase({ url: database, waitMs: 30_000 }) };
  },
};

export const engineNames = Object.keys(stores) as (keyof typeof stores)[];

/** The URL of an empty database, which is dropped after the test. */
export async function newDatabase(): Promise<string> {
  const { url, drop } = await createDatabase();
  onTestFinished(drop);
  return url;
}

export async function openDatabase(options: PostgresOptions): Promise<Engine> {
  return closeAfterTest(await openPostgres(options));
}

function closeAfterTest(engine: Engine): Engine {
  onTestFinished(() => engine.close());
  return engine;
}
