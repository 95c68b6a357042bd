/** A value that components follow. */
import { useEffect, useState } from "preact/hooks";

export interface Signal<T> {
  get(): T;
  set(value: T): void;
  /** Renders the component again when the value changes. */
  use(): T;
}

export function signal<T>(initial: T): Signal<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const listener of [...listeners]) listener();
    },
    use() {
      const [, render] = useState(0);
      useEffect(() => {
        const listener = () => render((count) => count + 1);
        listeners.add(listener);
        // The value may have changed between the rendering and this effect.
        listener();
        return () => void listeners.delete(listener);
      }, []);
      return value;
    },
  };
}
