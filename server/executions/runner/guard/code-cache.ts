/**
 * Ignores code caches of users' code. V8 runs a cache without verifying it: forged bytecode reads and writes the memory of
 * the process, and so bypasses the permissions of Node and Deno. Scripts without their cache are compiled as usual.
 */
import module from "node:module";
import vm from "node:vm";

/** The position of the options among the arguments of each function that takes a cache. */
const optionsAt: Readonly<Record<string, number>> = {
  createScript: 1,
  runInThisContext: 1,
  runInContext: 2,
  runInNewContext: 2,
  compileFunction: 2,
};

type Function = (...values: unknown[]) => unknown;

export function ignoreCodeCaches(): void {
  const members = vm as unknown as Record<string, unknown>;
  for (const [name, index] of Object.entries(optionsAt)) {
    const original = members[name] as Function | undefined;
    if (original === undefined) continue;
    members[name] = (...values: unknown[]) => original(...withoutCache(values, index));
  }
  for (const name of ["Script", "SourceTextModule"]) {
    const original = members[name];
    if (typeof original === "function") members[name] = withoutCaches(original);
  }
  // A cache on disk would be in the scratch folder, which users' code writes. The function is specified not to throw.
  Object.assign(module, { enableCompileCache: () => ({ status: disabled }) });
}

/** `module.constants.compileCacheStatus.DISABLED`, which not all runtimes define. */
const disabled = 3;

/** A class whose constructor ignores the option `cachedData`. No prototype leads to the original constructor. */
function withoutCaches(original: object): unknown {
  const guarded: unknown = new Proxy(original, {
    construct: (target, values, newTarget) =>
      Reflect.construct(
        target as Function,
        withoutCache(values, 1),
        newTarget === guarded ? (target as Function) : newTarget,
      ),
    getPrototypeOf: () => Function.prototype,
  });
  let prototype: unknown = (original as { prototype: object }).prototype;
  while (prototype !== Object.prototype && typeof prototype === "object" && prototype !== null) {
    Object.defineProperty(prototype, "constructor", { value: guarded, writable: true, configurable: true });
    prototype = Object.getPrototypeOf(prototype);
  }
  return guarded;
}

function withoutCache(values: unknown[], index: number): unknown[] {
  const options = values[index];
  // An object of the options is copied, so that it cannot answer differently the second time that it is read.
  return typeof options === "object" && options !== null && !Array.isArray(options)
    ? values.with(index, { ...options, cachedData: undefined })
    : values;
}
