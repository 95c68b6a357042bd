/** Loads modules exactly as for an execution, to find those that cannot be loaded. */
import type { JsonObject } from "../../../project/json.ts";
import type { InputsToCheck, ModuleCheck, PackageLocation, PoolOptions } from "./contract.ts";
import { launch } from "./launch.ts";
import { RunnerProcess } from "./runner-process.ts";

/** Concurrent runners. More would each take longer. */
const maxConcurrency = 2;
/** The start of another runner takes longer than it takes to load a few modules. */
const modulesPerRunner = 4;

/**
 * Modules share a runner, as they do in executions. A module that fails in a runner that has loaded others is loaded again
 * in a new one, so that no module fails because of another.
 */
export async function checkModules(
  options: PoolOptions,
  location: PackageLocation,
  modules: readonly string[],
  timeoutMs: number,
  inputs: InputsToCheck = {},
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
          const check = await loader.load(module, timeoutMs, inputs[module]);
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
  const concurrency = Math.min(maxConcurrency, Math.ceil(modules.length / modulesPerRunner));
  await Promise.all(Array.from({ length: concurrency }, work));
  return checks;
}

/** A runner without attempts. States: *open* until `close`, or until a module ends the process; then every load fails. */
class Loader {
  readonly #runner: RunnerProcess;
  /** Resolves to the reason. */
  readonly #ended: Promise<string>;

  private constructor(runner: RunnerProcess, ended: Promise<string>) {
    this.#runner = runner;
    this.#ended = ended;
  }

  static async open(options: PoolOptions, location: PackageLocation): Promise<Loader> {
    const { events, limits } = options;
    const ended = Promise.withResolvers<string>();
    const runner = new RunnerProcess(location.deploymentId, limits, {
      log: (deploymentId, entries) => events.log(deploymentId, entries),
      respond: (executionId, response) => events.respond(executionId, response),
      runChildExecution: (executionId, request, signal) =>
        events.runChildExecution(executionId, request, signal),
      changed() {},
      misbehaved() {},
      ended: ended.resolve,
    });
    await launch(runner, location, options);
    return new Loader(runner, ended.promise);
  }

  async load(module: string, timeoutMs: number, inputs: readonly JsonObject[] = []): Promise<ModuleCheck> {
    const late = Promise.withResolvers<ModuleCheck>();
    const timer = setTimeout(() => {
      late.resolve(failed(module, "TimeoutError", `it did not load within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    try {
      return await Promise.race([
        this.#load(module, inputs),
        this.#ended.then((reason) => failed(module, "LoadError", reason)),
        late.promise,
      ]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#runner.end("The check is complete");
    await this.#ended;
  }

  async #load(module: string, inputs: readonly JsonObject[]): Promise<ModuleCheck> {
    const { error, file, line, schemas } = await this.#runner.load(module);
    if (schemas !== null) {
      const checked = await Promise.all(inputs.map((input) => this.#runner.validate(module, input)));
      return { module, ok: true, schemas, inputs: checked };
    }
    if (error === null) return { module, ok: true };
    const place = { ...(file !== null && { file }), ...(line !== null && { line }) };
    return { module, ok: false, error: { ...error, ...place } };
  }
}

function failed(module: string, name: string, reason: string): ModuleCheck {
  const message = `Cannot load ${module}: ${reason}`;
  return { module, ok: false, error: { name, message, stack: `${name}: ${message}` } };
}
