/** A thread with its own handle on a store; writes a hundred rows, each in its own transaction. */
import { workerData } from "node:worker_threads";
import { run } from "../../server/store/engine.ts";
import { openSqlite } from "../../server/store/sqlite/index.ts";

const { folder, insert } = workerData as { folder: string; insert: string };
const engine = openSqlite(folder);
for (let id = 1; id <= 100; id++) await engine.write(() => run(insert, id, id));
await engine.close();
