/** Stores that several servers share: a data folder, and PostgreSQL with S3. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../server/store/engine.ts";
import { openPostgres } from "../../server/store/postgres/index.ts";
import { openSqlite } from "../../server/store/sqlite/index.ts";
import { createDatabase } from "./postgres/databases.ts";
import { fastRunners } from "./runtimes.ts";
import { storageEnv } from "./s3.ts";
import { TestServer } from "./server.ts";

export interface SharedStore {
  /** A server on this store; call `start`. */
  server(env: Readonly<Record<string, string>>): TestServer;
  /** Opens a handle, as another process does. */
  open(): Promise<Engine>;
  /** Removes the data, after the servers have ended. */
  discard(): Promise<void>;
}

type Kind = "a data folder" | "PostgreSQL";

const sharedStores: readonly (readonly [kind: Kind, open: () => Promise<SharedStore>])[] = [
  [
    "a data folder",
    async () => {
      const dataDir = newFolder();
      return {
        server: (env) => new TestServer("node", { dataDir, env: { ...fastRunners, ...env }, shared: true }),
        open: async () => openSqlite(dataDir),
        async discard() {
          rmSync(dataDir, { recursive: true, force: true });
        },
      };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      // The data folder has the master key.
      const dataDir = newFolder();
      const { url, drop } = await createDatabase();
      const stores = { SVC_DATABASE_URL: url, ...(await storageEnv(dataDir)) };
      return {
        server: (env) => new TestServer("node", { dataDir, env: { ...fastRunners, ...env, ...stores } }),
        open: () => openPostgres({ url }),
        async discard() {
          await drop();
          rmSync(dataDir, { recursive: true, force: true });
        },
      };
    },
  ],
];

/** The stores of a suite: `here`, and with `TEST_STORE=postgres` (`npm run test:postgres`) both. */
export function sharedStoresOf(here: Kind): (typeof sharedStores)[number][] {
  return sharedStores.filter(([kind]) => kind === here || process.env.TEST_STORE === "postgres");
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), "svc-shared-"));
}
