/** Which execution the running code belongs to, across timers and promises. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Execution } from "./execution.ts";

const storage = new AsyncLocalStorage<Execution>();

/** The execution, which may have ended already; undefined for code that belongs to none. */
export function current(): Execution | undefined {
  return storage.getStore();
}

export function runIn(execution: Execution, body: () => void): void {
  storage.run(execution, body);
}
