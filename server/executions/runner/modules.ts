/** Loads the modules of the package. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Handler } from "../../../project/authoring.ts";
import { type ErrorMessage, errorsFile } from "./protocol.ts";

type Authoring = typeof import("../../../project/authoring.ts");

export class Modules {
  readonly #directory: string;
  readonly #loaded = new Map<string, Promise<Handler>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * The function that a module exports by default.
   *
   * @param module - path in the package
   * @throws whatever the module throws while it loads; TypeError when it exports no function
   */
  load(module: string): Promise<Handler> {
    let handler = this.#loaded.get(module);
    if (handler === undefined) {
      handler = this.#import(module);
      this.#loaded.set(module, handler);
    }
    return handler;
  }

  /** An `ExecutionError` of the class that users' code imports from `svc`, for its `instanceof`. */
  async executionError(executionId: string, { name, message, stack }: ErrorMessage): Promise<Error> {
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
        `Cannot run ${module}, which must export a function by default: it exports ${what}`,
      );
    }
    return exported as Handler;
  }

  #importFile(path: string): Promise<unknown> {
    return import(pathToFileURL(join(this.#directory, path)).href);
  }
}
