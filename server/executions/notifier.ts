/**
 * Who waits for what: small in-process signals that say "look again". They carry no data, since what they announce is
 * committed and is read from the store; so a missed or doubled one does no harm.
 */
export class Notifier {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Calls everyone who listens to a topic. */
  notify(topic: string): void {
    const listeners = this.#waiting.get(topic);
    if (listeners !== undefined) for (const listener of [...listeners]) listener();
  }

  /** @returns how to stop listening. */
  subscribe(topic: string, listener: () => void): () => void {
    let listeners = this.#waiting.get(topic);
    if (listeners === undefined) {
      listeners = new Set();
      this.#waiting.set(topic, listeners);
    }
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#waiting.get(topic) === listeners) this.#waiting.delete(topic);
    };
  }

  /** Whether anybody listens: lets the hot path skip the work of announcing. */
  has(topic: string): boolean {
    return this.#waiting.has(topic);
  }
}

export const executionTopic = (executionId: string): string => `execution ${executionId}`;
export const logTopic = (orgId: string): string => `log ${orgId}`;

/**
 * Waits for the next notice of a topic. Made before the state is read, so that nothing falls between.
 * `next` also resolves after `fallbackMs`, for what another process wrote.
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
