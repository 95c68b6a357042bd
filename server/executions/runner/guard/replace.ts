/** Replaces functions of the runtime. */

export function refusal(message: string): () => never {
  // Not an arrow function, so that a call with `new` gives this error too.
  return function refuse(): never {
    throw new Error(message);
  };
}

/** Replaces the members that exist. They stay writable, because libraries wrap them. */
export function replace(owner: object, names: readonly string[], value: unknown): void {
  for (const name of names) {
    if (name in owner) Object.defineProperty(owner, name, { value, writable: true, configurable: true });
  }
}
