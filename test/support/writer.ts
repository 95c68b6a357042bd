/** A second handle on a store, in a thread of its own: writes a hundred rows, each in a commit of its own, and ends. */
import { workerData } from "node:worker_threads";
import { run } from "../../server/store/engine.ts";
import { openSqlite } from "../../server/store/sqlite.ts";

const { folder, insert } = workerData as { folder: string; insert: string };
const engine = openSqlite(folder);
for (let id = 1; id <= 100; id++) await engine.write(() => run(insert, id, id));
await engine.close();
