/** Loads the package's modules. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Handler } from "../../../project/authoring.ts";
import type { Schema } from "../../../project/inputs/standard-schema.ts";
import { errorsFile, type SerializedError } from "./protocol.ts";

type Authoring = typeof import("../../../project/authoring.ts");

/** The default export of a module: its function and, of `defineAgent({ input, output, run })`, its schemas. */
export interface Target {
  run: Handler;
  input?: Schema | undefined;
  output?: Schema | undefined;
}

export class Modules {
  readonly #directory: string;
  readonly #loaded = new Map<string, Promise<Target>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * @param module - path in the package
   * @throws any error of the module while it loads; TypeError when the default export is not a target
   */
  load(module: string): Promise<Target> {
    let target = this.#loaded.get(module);
    if (target === undefined) {
      target = this.#import(module);
      this.#loaded.set(module, target);
    }
    return target;
  }

  /** An `ExecutionError` of the same class that users' code imports from `svc`, so that `instanceof` works. */
  async executionError(
    executionId: string,
    { name, message, stack, violations = [] }: SerializedError,
  ): Promise<Error> {
    const cause = new Error(message);
    cause.name = name;
    cause.stack = stack;
    const { ExecutionError } = (await this.#importFile(errorsFile)) as Authoring;
    return new ExecutionError(`${name}: ${message}`, executionId, { cause, violations });
  }

  async #import(module: string): Promise<Target> {
    const exported = ((await this.#importFile(module)) as { default?: unknown }).default;
    if (typeof exported === "function") return { run: exported as Handler };
    const { run, input, output } = (exported ?? {}) as Record<string, unknown>;
    if (typeof run !== "function") {
      const object = "an object without a function 'run'";
      const other = typeof exported === "object" ? object : `a value of type ${typeof exported}`;
      const what = exported === undefined ? "nothing" : other;
      throw new TypeError(
        `Cannot run ${module}: its default export must be a function, but it exports ${what}`,
      );
    }
    // A function of its own, so that `run` may use `this`.
    const handler: Handler = (value, context) => run.call(exported, value, context);
    return { run: handler, input: schema(module, "input", input), output: schema(module, "output", output) };
  }

  #importFile(path: string): Promise<unknown> {
    return import(pathToFileURL(join(this.#directory, path)).href);
  }
}

/** Schemas of ArkType are functions. */
function schema(module: string, key: string, value: unknown): Schema | undefined {
  if (value === undefined) return undefined;
  const standard = (value as Partial<Schema> | null)?.["~standard"];
  if (typeof standard?.validate === "function") return value as Schema;
  throw new TypeError(
    `Cannot run ${module}: its ${key} must be a schema that implements Standard Schema, such as one of zod, valibot or arktype`,
  );
}
