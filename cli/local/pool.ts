import { rmSync } from "node:fs";
import { mkdir, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CollectedFile } from "../../project/package-file.ts";
import { stageFiles } from "../../project/stage.ts";
import { loadConfig } from "../../server/config.ts";
import { createPools, type InputsToCheck, type ModuleCheck } from "../../server/executions/pool/index.ts";
import { orderedId } from "../../server/ids.ts";

/** The same timeout as in the service. */
const loadTimeoutMs = 20_000;

/** Loads modules in runners with the limits of the service, and checks inputs with their schemas. */
export async function loadModules(
  files: readonly CollectedFile[],
  modules: readonly string[],
  inputs: InputsToCheck,
): Promise<ModuleCheck[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "svc-local-")));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  const location = { deploymentId: orderedId("dep"), directory: join(folder, "project") };
  const { limits } = loadConfig({}, process.env);
  const pools = createPools({
    limits: {
      memoryBytes: limits.runnerMemoryBytes,
      outputBytes: limits.outputBytes,
      logLineBytes: limits.logLineBytes,
      logLines: limits.logLines,
      executionsPerRunner: limits.executionsPerRunner,
      runnersPerDeployment: limits.runnersPerDeployment,
      idleMs: 300_000,
      killGraceMs: 5_000,
      blockedMs: 5_000,
    },
    events: {
      log() {},
      respond() {},
      runChildExecution: () => Promise.reject(new Error("Modules are only loaded.")),
    },
    scratchRoot: join(folder, "scratch"),
    locate: () => Promise.resolve(location),
  });
  try {
    await mkdir(join(folder, "scratch"));
    await stageFiles(files, location.directory);
    return await pools.check(location, [...modules], loadTimeoutMs, inputs);
  } finally {
    await pools.close(0);
    remove();
    process.off("exit", remove);
  }
}
