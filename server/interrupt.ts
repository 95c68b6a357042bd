/**
 * Lets promises reject early, for an event such as a deadline. `Promise.race` with one promise for the event would keep the
 * values of all races in memory until the event: every chunk of an upload, and every message of a stream that lasts for days.
 */
export class Interrupt {
  #event: { error: unknown } | null = null;
  #reject: ((error: unknown) => void) | null = null;

  /** Rejects the promise of the current `wait` and of later ones. */
  raise(error: unknown): void {
    this.#event ??= { error };
    this.#reject?.(error);
  }

  /** Settles as the promise does, unless the interrupt comes first. Callers wait for one promise at a time. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      promise.then(resolve, reject);
      if (this.#event !== null) reject(this.#event.error);
    });
  }
}

/** The items of a stream, which fails at the interrupt. */
export async function* interruptible<T>(items: AsyncIterable<T>, interrupt: Interrupt): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  let pending = false;
  try {
    for (;;) {
      pending = true;
      const item = await interrupt.wait(iterator.next());
      pending = false;
      if (item.done === true) return;
      yield item.value;
    }
  } finally {
    // A generator that waits for its next item returns only after it has one. The abort of the call ends it.
    const returned = iterator.return?.();
    if (pending) returned?.catch(() => {});
    else await returned;
  }
}
