/** Loads modules as for running, to see whether they can be run. */
import { Child } from "./child.ts";
import type { ModuleCheck, PackageLocation, PoolOptions } from "./contract.ts";
import { launch } from "./launch.ts";

/** Children at once; more would each take longer. */
const atOnce = 2;

/** One child for each module, so that no module suffers from another. */
export async function checkModules(
  options: PoolOptions,
  location: PackageLocation,
  modules: readonly string[],
  timeoutMs: number,
): Promise<ModuleCheck[]> {
  const checks: ModuleCheck[] = [];
  const rest = [...modules.entries()];
  const work = async (): Promise<void> => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
      const [index, module] = next;
      checks[index] = await checkModule(options, location, module, timeoutMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return checks;
}

async function checkModule(
  options: PoolOptions,
  location: PackageLocation,
  module: string,
  timeoutMs: number,
): Promise<ModuleCheck> {
  const { events, limits } = options;
  const result = Promise.withResolvers<ModuleCheck>();
  const ended = Promise.withResolvers<void>();
  const child = new Child(location.deploymentId, limits, {
    log: (deploymentId, entries) => events.log(deploymentId, entries),
    run: (executionId, request, signal) => events.run(executionId, request, signal),
    changed: () => {},
    ended: (why) => {
      result.resolve(failed(module, "LoadError", why));
      ended.resolve();
    },
  });
  await launch(child, location, options);
  const timer = setTimeout(() => {
    result.resolve(failed(module, "TimeoutError", `it had not loaded within ${timeoutMs / 1000} s`));
  }, timeoutMs);
  void child.load(module).then(({ error, file, line }) => {
    if (error === null) result.resolve({ module, ok: true });
    else {
      const place = { ...(file !== null && { file }), ...(line !== null && { line }) };
      result.resolve({ module, ok: false, error: { ...error, ...place } });
    }
  });
  const check = await result.promise;
  clearTimeout(timer);
  child.end("It was checked");
  await ended.promise;
  return check;
}

function failed(module: string, name: string, why: string): ModuleCheck {
  const message = `Cannot load ${module}: ${why}`;
  return { module, ok: false, error: { name, message, stack: `${name}: ${message}` } };
}
