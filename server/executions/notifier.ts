/**
 * Distributes the notifications of the store to those who wait in this process. They carry no data: the receiver reads the
 * committed state from the store. A missed or duplicate notification is therefore harmless.
 */
import type { Engine } from "../store/engine.ts";

export class Notifier {
  readonly #listeners = new Map<string, Set<() => void>>();

  constructor(engine: Pick<Engine, "listen">) {
    engine.listen("execution", (id) => (id === null ? this.#notifyAll() : this.#notify(executionTopic(id))));
    engine.listen("log", (orgId) => (orgId === null ? this.#notifyAll() : this.#notify(logTopic(orgId))));
  }

  /** @returns a function that unsubscribes */
  subscribe(topic: string, listener: () => void): () => void {
    let listeners = this.#listeners.get(topic);
    if (listeners === undefined) {
      listeners = new Set();
      this.#listeners.set(topic, listeners);
    }
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
    };
  }

  #notify(topic: string): void {
    const listeners = this.#listeners.get(topic);
    if (listeners !== undefined) for (const listener of [...listeners]) listener();
  }

  #notifyAll(): void {
    for (const topic of [...this.#listeners.keys()]) this.#notify(topic);
  }
}

export const executionTopic = (executionId: string): string => `execution ${executionId}`;
export const logTopic = (orgId: string): string => `log ${orgId}`;

/**
 * Waits for the next notification of one of several topics. Create it before reading the state, so that no change is
 * missed. `next` also resolves after `fallbackMs`, because a notification of another process may be lost.
 */
export function watch(
  notifier: Notifier,
  topics: readonly string[],
  fallbackMs: number,
): { next(signal: AbortSignal): Promise<void>; stop(): void } {
  let pending = false;
  let wake: (() => void) | null = null;
  const stops = topics.map((topic) =>
    notifier.subscribe(topic, () => {
      pending = true;
      wake?.();
    }),
  );
  return {
    async next(signal) {
      if (!pending && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, fallbackMs);
          const done = () => {
            clearTimeout(timer);
            signal.removeEventListener("abort", done);
            resolve();
          };
          wake = done;
          signal.addEventListener("abort", done, { once: true });
        });
        wake = null;
      }
      pending = false;
    },
    stop() {
      for (const stop of stops) stop();
    },
  };
}
