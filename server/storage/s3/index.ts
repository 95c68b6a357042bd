/** The S3 driver. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describeStorage, type S3Config } from "../../config/storage-url.ts";
import { StartError } from "../../errors.ts";
import { log } from "../../telemetry/log/index.ts";
import { StorageError } from "../errors.ts";
import type { StorageLimits } from "../receive.ts";
import { S3Client } from "./client.ts";
import { S3Storage } from "./storage.ts";
import { standardTiming, type Timing } from "./timing.ts";

/**
 * Checks the bucket and the credentials. A storage that cannot be reached now does not stop the start, because a server
 * accepts webhooks and runs cached packages without it.
 *
 * @throws StartError when the bucket, the region or the credentials are wrong
 */
export async function openS3Storage(
  dataDir: string,
  config: S3Config,
  limits: StorageLimits,
  timing: Timing = standardTiming,
): Promise<S3Storage> {
  const temporary = join(dataDir, "tmp", "uploads");
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  const storage = new S3Storage(new S3Client(config, timing), temporary, limits);
  try {
    await storage.check();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const problem = `Cannot use the object storage ${describeStorage(config)}: ${error.summary}.`;
    if (error.isPermanent) {
      const advice =
        "Check SVC_STORAGE_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the permissions of the key.";
      throw new StartError(problem, advice, error);
    }
    log.warn(`${problem} The server starts and tries again.`);
  }
  return storage;
}
