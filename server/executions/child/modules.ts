/** Loads the modules of the package. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Handler } from "../../../project/authoring.ts";

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

  async #import(module: string): Promise<Handler> {
    const url = pathToFileURL(join(this.#directory, module)).href;
    const exported = ((await import(url)) as { default?: unknown }).default;
    if (typeof exported !== "function") {
      throw new TypeError(
        `Cannot use ${module}, which must export a function by default: it exports ${exported === undefined ? "nothing" : `a value of type ${typeof exported}`} by default`,
      );
    }
    return exported as Handler;
  }

  /** The class that users' code sees as `ExecutionError`, for `instanceof`. */
  async executionError(): Promise<typeof import("../../../project/authoring.ts").ExecutionError> {
    const url = pathToFileURL(join(this.#directory, "node_modules/svc/errors.js")).href;
    return ((await import(url)) as typeof import("../../../project/authoring.ts")).ExecutionError;
  }
}
