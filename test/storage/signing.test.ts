/** Processes that start at the same time on one data folder sign URLs with the same key. */
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/store.ts";

const threads = 4;
const folders = 25;

test("all starters get the key that one of them creates", async () => {
  const folder = temporaryFolder();
  for (let index = 0; index < folders; index++) mkdirSync(join(folder, String(index)));
  const waiting = new Int32Array(new SharedArrayBuffer(4));
  const workers = Array.from({ length: threads }, () => {
    const file = new URL("signing-starter.ts", import.meta.url);
    return new Worker(file, { workerData: { folder, folders, threads, waiting } });
  });
  const keys = await Promise.all(workers.map(async (worker) => (await once(worker, "message"))[0]));
  expect(keys[0]).toHaveLength(folders);
  for (const found of keys) expect(found).toEqual(keys[0]);
});
