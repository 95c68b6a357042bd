/** The listeners of an engine in this process, by topic. */

import { log } from "../telemetry/log/index.ts";
import type { Listener, Topic } from "./engine.ts";

export class Listeners {
  readonly #topics = new Map<Topic, Set<Listener>>();

  /** @returns a function that unsubscribes */
  add(topic: Topic, listener: Listener): () => void {
    const listeners = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  has(topic: Topic): boolean {
    return (this.#topics.get(topic)?.size ?? 0) > 0;
  }

  /** Calls the listeners of a topic. An error in one does not keep others from being called. */
  call(topic: Topic, key: string | null): void {
    for (const listener of [...(this.#topics.get(topic) ?? [])]) {
      try {
        listener(key);
      } catch (error) {
        log.error("A listener of the store failed", { error });
      }
    }
  }

  /** Tells all listeners that any key may have changed. */
  callAll(): void {
    for (const topic of this.#topics.keys()) this.call(topic, null);
  }
}
