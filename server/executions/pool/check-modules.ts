/** Loads modules as for running, to see whether they can be run. */

import type { ModuleCheck, PackageLocation, PoolOptions } from "./contract.ts";
import { launch } from "./launch.ts";
import { RunnerProcess } from "./runner-process.ts";

/** Children at once; more would each take longer. */
const atOnce = 2;

/**
 * Modules share a runner for as long as all is well, as they do when they run. What fails in a runner that has loaded
 * others is loaded again in one of its own, so that no module suffers from another.
 */
export async function checkModules(
  options: PoolOptions,
  location: PackageLocation,
  modules: readonly string[],
  timeoutMs: number,
): Promise<ModuleCheck[]> {
  const checks: ModuleCheck[] = [];
  const rest = [...modules.entries()];
  const work = async (): Promise<void> => {
    let loader: Loader | null = null;
    try {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
        const [index, module] = next;
        for (;;) {
          const isFirst: boolean = loader === null;
          loader ??= await Loader.open(options, location);
          const check = await loader.load(module, timeoutMs);
          checks[index] = check;
          if (check.ok) break;
          await loader.close();
          loader = null;
          if (isFirst) break;
        }
      }
    } finally {
      await loader?.close();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return checks;
}

/** A runner that runs nothing. *Open* until `close`, or until a module ends it: every load fails from then on. */
class Loader {
  readonly #process: RunnerProcess;
  /** Resolves to the reason. */
  readonly #ended: Promise<string>;

  private constructor(runner: RunnerProcess, ended: Promise<string>) {
    this.#process = runner;
    this.#ended = ended;
  }

  static async open(options: PoolOptions, location: PackageLocation): Promise<Loader> {
    const { events, limits } = options;
    const ended = Promise.withResolvers<string>();
    const runner = new RunnerProcess(location.deploymentId, limits, {
      log: (deploymentId, entries) => events.log(deploymentId, entries),
      runChildExecution: (executionId, request, signal) =>
        events.runChildExecution(executionId, request, signal),
      changed: () => {},
      disturbs: (gravely) => runner.yieldToOthers(gravely),
      ended: ended.resolve,
    });
    await launch(runner, location, options);
    return new Loader(runner, ended.promise);
  }

  async load(module: string, timeoutMs: number): Promise<ModuleCheck> {
    const late = Promise.withResolvers<ModuleCheck>();
    const timer = setTimeout(() => {
      late.resolve(failed(module, "TimeoutError", `it had not loaded within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    try {
      return await Promise.race([
        this.#answer(module),
        this.#ended.then((why) => failed(module, "LoadError", why)),
        late.promise,
      ]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#process.end("It was checked");
    await this.#ended;
  }

  async #answer(module: string): Promise<ModuleCheck> {
    const { error, file, line } = await this.#process.load(module);
    if (error === null) return { module, ok: true };
    const place = { ...(file !== null && { file }), ...(line !== null && { line }) };
    return { module, ok: false, error: { ...error, ...place } };
  }
}

function failed(module: string, name: string, why: string): ModuleCheck {
  const message = `Cannot load ${module}: ${why}`;
  return { module, ok: false, error: { name, message, stack: `${name}: ${message}` } };
}
