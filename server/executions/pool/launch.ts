/** Prepares a deployment's package and starts a runner on it. */
import { randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { parseHostPattern } from "../../../project/hosts.ts";
import { ownBoundary } from "../sandbox/boundary.ts";
import type { PackageLocation, PoolOptions } from "./contract.ts";
import { findTracingApi, provideModules } from "./modules.ts";
import type { RunnerProcess } from "./runner-process.ts";

/** @throws Error when the package cannot be prepared, or the process ends before it is ready */
export async function launch(
  runner: RunnerProcess,
  location: PackageLocation,
  { scratchRoot, limits, boundary = ownBoundary, tracing = false }: PoolOptions,
): Promise<void> {
  const provided = await provideModules(location.directory);
  const api = tracing ? await findTracingApi() : null;
  await runner.start({
    boundary,
    directory: await realpath(location.directory),
    provided: api === null ? provided : [...provided, api.folder],
    tracing: api?.url ?? null,
    hosts: location.network?.map(parseHostPattern).filter((pattern) => pattern !== null) ?? null,
    scratch: join(scratchRoot, randomUUID()),
    heapBytes: limits.memoryBytes,
  });
}
