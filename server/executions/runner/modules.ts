/** Loads the package's modules. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Handler } from "../../../project/authoring.ts";
import { errorsFile, type SerializedError } from "./protocol.ts";

type Authoring = typeof import("../../../project/authoring.ts");

export class Modules {
  readonly #directory: string;
  readonly #loaded = new Map<string, Promise<Handler>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * The default export of a module.
   *
   * @param module - path in the package
   * @throws any error of the module while it loads; TypeError when the default export is not a function
   */
  load(module: string): Promise<Handler> {
    let handler = this.#loaded.get(module);
    if (handler === undefined) {
      handler = this.#import(module);
      this.#loaded.set(module, handler);
    }
    return handler;
  }

  /** An `ExecutionError` of the same class that users' code imports from `svc`, so that `instanceof` works. */
  async executionError(executionId: string, { name, message, stack }: SerializedError): Promise<Error> {
    const cause = new Error(message);
    cause.name = name;
    cause.stack = stack;
    const { ExecutionError } = (await this.#importFile(errorsFile)) as Authoring;
    return new ExecutionError(`${name}: ${message}`, executionId, { cause });
  }

  async #import(module: string): Promise<Handler> {
    const exported = ((await this.#importFile(module)) as { default?: unknown }).default;
    if (typeof exported !== "function") {
      const what = exported === undefined ? "nothing" : `a value of type ${typeof exported}`;
      throw new TypeError(
        `Cannot run ${module}: its default export must be a function, but it exports ${what}`,
      );
    }
    return exported as Handler;
  }

  #importFile(path: string): Promise<unknown> {
    return import(pathToFileURL(join(this.#directory, path)).href);
  }
}
