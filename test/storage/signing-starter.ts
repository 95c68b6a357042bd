/** A thread that loads the signing key of each folder at the same time as the other threads. */
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { loadSigningKey } from "../../server/storage/signing.ts";

const { folder, folders, threads, waiting } = workerData as {
  folder: string;
  folders: number;
  threads: number;
  waiting: Int32Array;
};
const keys: string[] = [];
for (let index = 0; index < folders; index++) {
  let arrived = Atomics.add(waiting, 0, 1) + 1;
  Atomics.notify(waiting, 0);
  while (arrived < threads * (index + 1)) {
    Atomics.wait(waiting, 0, arrived);
    arrived = Atomics.load(waiting, 0);
  }
  keys.push(loadSigningKey(join(folder, String(index))).toString("hex"));
}
parentPort?.postMessage(keys);
