/** Loads modules as for running, to see whether they can be run. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Child } from "./child.ts";
import type { ModuleCheck, PackageLocation, PoolOptions } from "./contract.ts";
import { provideModules } from "./modules.ts";

/** One child for each module, so that no module suffers from another, two at a time. */
export async function checkModules(
  options: PoolOptions,
  location: PackageLocation,
  modules: string[],
  timeoutMs: number,
): Promise<ModuleCheck[]> {
  const provided = await provideModules(location.directory);
  const checks: ModuleCheck[] = [];
  const rest = [...modules.entries()];
  async function work(): Promise<void> {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
      checks[next[0]] = await checkModule(options, location, provided, next[1], timeoutMs);
    }
  }
  await Promise.all([work(), work()]);
  return checks;
}

async function checkModule(
  options: PoolOptions,
  { deploymentId, directory }: PackageLocation,
  provided: string[],
  module: string,
  timeoutMs: number,
): Promise<ModuleCheck> {
  const { events, limits, scratchRoot } = options;
  const result = Promise.withResolvers<ModuleCheck>();
  const gone = Promise.withResolvers<void>();
  const fail = (name: string, message: string): void =>
    result.resolve({ module, ok: false, error: { name, message, stack: `${name}: ${message}` } });
  const child = new Child(deploymentId, limits, {
    log: (id, entries) => events.log(id, entries),
    run: (id, request, signal) => events.run(id, request, signal),
    changed: () => {},
    ended: () => {
      fail("LoadError", `Cannot load ${module}: its process ended while it was loaded`);
      gone.resolve();
    },
  });
  const cache = join(scratchRoot, "cache");
  await child.start({ directory, provided, scratch: join(scratchRoot, randomUUID()), cache, limits });
  const timer = setTimeout(() => {
    fail("TimeoutError", `Cannot load ${module}, which may take ${timeoutMs} ms: it had not loaded by then`);
  }, timeoutMs);
  void child.load(module).then(({ error, file, line }) => {
    if (error === null) result.resolve({ module, ok: true });
    else {
      result.resolve({
        module,
        ok: false,
        error: { ...error, ...(file !== null && { file }), ...(line !== null && { line }) },
      });
    }
  });
  const check = await result.promise;
  clearTimeout(timer);
  child.handBack("");
  await gone.promise;
  return check;
}
