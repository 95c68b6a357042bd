/** Carries the active context of OpenTelemetry across promises and timers. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Context, ContextManager } from "@opentelemetry/api";

export class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  readonly #root: Context;

  constructor(root: Context) {
    this.#root = root;
  }

  active(): Context {
    return this.#storage.getStore() ?? this.#root;
  }

  with<A extends unknown[], F extends (...values: A) => ReturnType<F>>(
    context: Context,
    body: F,
    thisArgument?: ThisParameterType<F>,
    ...values: A
  ): ReturnType<F> {
    return this.#storage.run(context, () => body.apply(thisArgument as never, values) as ReturnType<F>);
  }

  /** Only functions are bound. */
  bind<T>(context: Context, target: T): T {
    if (typeof target !== "function") return target;
    const bound = (...values: unknown[]) => this.with(context, () => target(...values));
    return bound as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}
