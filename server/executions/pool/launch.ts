/** Everything that a runner needs before it can start. */
import { randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { PackageLocation, PoolOptions } from "./contract.ts";
import { provideModules } from "./modules.ts";
import type { RunnerProcess } from "./runner-process.ts";
import { spawnHere } from "./spawn.ts";

/** The folder of the scratch root that outlives runners and servers. */
export const cacheName = "cache";

/** @throws Error when the package cannot be prepared or the process ends before it is ready */
export async function launch(
  runner: RunnerProcess,
  location: PackageLocation,
  options: PoolOptions,
  yields = false,
): Promise<void> {
  const { scratchRoot, limits } = options;
  const provided = await provideModules(location.directory);
  await runner.start({
    directory: await realpath(location.directory),
    provided,
    scratch: join(scratchRoot, randomUUID()),
    cache: join(scratchRoot, cacheName),
    limits,
    spawn: options.spawn ?? spawnHere,
    yields,
  });
}
