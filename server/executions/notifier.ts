/**
 * Distributes the notifications of the store to those who wait in this process. They carry no data: the receiver reads the
 * committed state from the store. A missed or duplicate notification is therefore harmless.
 */
import type { Engine } from "../store/engine.ts";

export class Notifier {
  readonly #engine: Pick<Engine, "listen">;
  readonly #kinds: Record<Kind, Subscriptions> = { execution: newSubscriptions(), log: newSubscriptions() };

  constructor(engine: Pick<Engine, "listen">) {
    this.#engine = engine;
  }

  /** @returns a function that unsubscribes */
  subscribe({ kind, key }: Subject, listener: () => void): () => void {
    const subscriptions = this.#kinds[kind];
    const { byKey } = subscriptions;
    let listeners = byKey.get(key);
    if (listeners === undefined) {
      listeners = new Set();
      byKey.set(key, listeners);
    }
    listeners.add(listener);
    // The store sends them only to processes that listen.
    subscriptions.stop ??= this.#engine.listen(kind, (changed) => notify(byKey, changed));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && byKey.get(key) === listeners) byKey.delete(key);
      if (byKey.size > 0) return;
      subscriptions.stop?.();
      subscriptions.stop = null;
    };
  }
}

type Kind = "execution" | "log";

/** An execution, or the log of an organization. */
export interface Subject {
  kind: Kind;
  /** The id. */
  key: string;
}

interface Subscriptions {
  byKey: Map<string, Set<() => void>>;
  /** Stops listening to the store; null while there are no listeners. */
  stop: (() => void) | null;
}

function newSubscriptions(): Subscriptions {
  return { byKey: new Map(), stop: null };
}

/** @param changed - null when any may have changed */
function notify(byKey: Subscriptions["byKey"], changed: string | null): void {
  const keys = changed === null ? [...byKey.keys()] : [changed];
  for (const key of keys) for (const listener of [...(byKey.get(key) ?? [])]) listener();
}

export const executionTopic = (executionId: string): Subject => ({ kind: "execution", key: executionId });
export const logTopic = (orgId: string): Subject => ({ kind: "log", key: orgId });

/**
 * Waits for the next notification of one of several topics. Create it before reading the state, so that no change is
 * missed. `next` also resolves after `fallbackMs`, because a notification of another process may be lost.
 */
export function watch(
  notifier: Notifier,
  topics: readonly Subject[],
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
