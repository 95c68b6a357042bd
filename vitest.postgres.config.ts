/** `npm run test:postgres`: the suites of servers on PostgreSQL and S3 instead of a data folder. */
import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** Files about the embedded store only. */
const embedded = [
  // Start a server on data folders of version 0.1, which had no PostgreSQL and no S3.
  "upgrade",
  "upgrade-deliveries",
  // Locks the file of the embedded store. `test/store/postgres-failures.test.ts` is about PostgreSQL that does not answer.
  "unavailable",
  // Backups are of the data folder. PostgreSQL has its own, and the command says so.
  "backup",
  // The disk of the data folder is full.
  "full-disk",
  // The modes of the files in the data folder, the database and the packages among them.
  "data-dir",
  // The engine of SQLite, without a server. `test/store` runs on both engines.
  "store",
];

export default defineConfig({
  test: {
    ...base.test,
    include: ["test/{service,crash,store}/**/*.test.ts"],
    exclude: embedded.map((name) => `test/service/data/${name}.test.ts`),
    env: { TEST_STORE: "postgres", TEST_STORAGE: "s3" },
  },
});
