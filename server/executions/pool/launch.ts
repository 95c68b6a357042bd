/** Prepares a deployment's package and starts a runner on it. */
import { randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { PackageLocation, PoolOptions } from "./contract.ts";
import { provideModules } from "./modules.ts";
import type { RunnerProcess } from "./runner-process.ts";

/** The folder in the scratch root that the pool keeps when runners and servers end. */
export const cacheName = "cache";

/** @throws Error when the package cannot be prepared, or the process ends before it is ready */
export async function launch(
  runner: RunnerProcess,
  location: PackageLocation,
  { scratchRoot, limits }: PoolOptions,
): Promise<void> {
  const provided = await provideModules(location.directory);
  await runner.start({
    directory: await realpath(location.directory),
    provided,
    scratch: join(scratchRoot, randomUUID()),
    cache: join(scratchRoot, cacheName),
    limits,
  });
}
