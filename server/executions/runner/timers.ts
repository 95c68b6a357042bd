/** Assigns errors of timer callbacks to the attempt that set the timer, on a runtime that loses this context. */
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";

type Callback = (...values: unknown[]) => unknown;
type SetTimer = (callback: unknown, ...rest: unknown[]) => unknown;

/** @param onError - called in the asynchronous context of the timer */
export function keepTimerContext(onError: (error: unknown) => void): void {
  for (const name of ["setTimeout", "setInterval", "setImmediate"] as const) {
    const original = globalThis[name] as unknown as SetTimer;
    const replacement: SetTimer = (callback, ...rest) =>
      original(typeof callback === "function" ? caught(callback as Callback) : callback, ...rest);
    // Copies the symbol by which `util.promisify` finds the promise version.
    Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(original));
    globalThis[name] = replacement as never;
    timers[name] = replacement as never;
  }
  syncBuiltinESMExports();

  function caught(callback: Callback): Callback {
    return function run(this: unknown, ...values: unknown[]) {
      try {
        return callback.apply(this, values);
      } catch (error) {
        onError(error);
      }
    };
  }
}
