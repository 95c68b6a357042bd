/** The redactors of organizations, with the values that their runners received. */
import { Redactor } from "./redactor.ts";

/** Replaced values that are still redacted, because running code may hold them. */
const maxReplacedValues = 100;

interface Known {
  /** The last argument of `add`: the vault returns the same object until a secret changes. */
  current: Readonly<Record<string, string>>;
  /** Current and replaced values. The current ones come last. */
  values: Set<string>;
  redactor: Redactor;
}

export class Redactors {
  readonly #known = new Map<string, Known>();

  /** Call this before a runner receives the values. */
  add(orgId: string, current: Readonly<Record<string, string>>): void {
    const known = this.#known.get(orgId);
    if (known === undefined ? isEmpty(current) : known.current === current) return;
    const values = known?.values ?? new Set();
    const present = new Set(Object.values(current));
    for (const value of present) {
      values.delete(value);
      values.add(value);
    }
    for (const value of values) {
      if (values.size <= present.size + maxReplacedValues) break;
      values.delete(value);
    }
    this.#known.set(orgId, { current, values, redactor: new Redactor(values) });
  }

  /** Undefined when there is nothing to redact. */
  of(orgId: string): Redactor | undefined {
    const redactor = this.#known.get(orgId)?.redactor;
    return redactor?.isEmpty === false ? redactor : undefined;
  }
}

function isEmpty(values: object): boolean {
  for (const _ in values) return false;
  return true;
}
