/** The attempt that the running code belongs to, across timers and promises. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Attempt } from "./interfaces.ts";

const storage = new AsyncLocalStorage<Attempt>();

/** The attempt, which may have ended, or undefined for code outside of attempts. */
export function current(): Attempt | undefined {
  return storage.getStore();
}

export function runIn(attempt: Attempt, body: () => void): void {
  storage.run(attempt, body);
}
