/** The notifications of a transaction: each once, sent after its commit. */
import type { Notification, Topic } from "../engine.ts";
import type { Listeners } from "../listeners.ts";

export class PendingNotifications {
  readonly #listeners: Listeners;
  readonly #keys = new Map<Topic, Set<string>>();

  constructor(listeners: Listeners) {
    this.#listeners = listeners;
  }

  add({ topic, key }: Notification): void {
    if (!this.#listeners.has(topic)) return;
    const keys = this.#keys.get(topic);
    if (keys === undefined) this.#keys.set(topic, new Set([key]));
    else keys.add(key);
  }

  send(): void {
    if (this.#keys.size === 0) return;
    const pending = [...this.#keys];
    this.#keys.clear();
    for (const [topic, keys] of pending) for (const key of keys) this.#listeners.call(topic, key);
  }

  clear(): void {
    this.#keys.clear();
  }
}
