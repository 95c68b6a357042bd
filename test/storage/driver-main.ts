/** Runs every operation of the S3 driver once, on the runtime that runs this file. Prints `done`. */
import { strictEqual } from "node:assert/strict";
import type { S3Config } from "../../server/config/storage-url.ts";
import { openS3Storage } from "../../server/storage/s3/index.ts";
import type { Timing } from "../../server/storage/s3/timing.ts";
import { limits, pieces, put, read, sample, uploadOf } from "./samples.ts";

const { folder, config, timing }: { folder: string; config: S3Config; timing: Timing } = JSON.parse(
  process.argv[2] ?? "",
);
const storage = await openS3Storage(folder, config, limits, timing);
for (const size of [250_000, 17 * 2 ** 20]) {
  const stored = sample(size);
  strictEqual(await storage.get(stored.key), null);
  await storage.put(stored.key, stored.bytes.length, pieces(stored.bytes));
  strictEqual(await storage.sizeOf(stored.key), stored.bytes.length);
  strictEqual((await read(await storage.get(stored.key)))?.equals(stored.bytes), true);
  await storage.delete(stored.key);
  strictEqual(await storage.sizeOf(stored.key), null);
}
const sent = sample(250_000);
const upload = uploadOf(sent);
const [part] = await storage.signUpload(upload, true);
strictEqual((await put(part?.url ?? "", sent.bytes)).status, 200);
strictEqual(await storage.staging.confirm(upload), true);
strictEqual((await read(await storage.get(sent.key)))?.equals(sent.bytes), true);
await storage.check();
console.log("done");
process.exit(0);
