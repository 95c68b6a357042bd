/** A difference between two JSON values. */
export interface Difference {
  /** In the syntax of field mappings: `input.items[0].sku`. Names outside that syntax are quoted. */
  path: string;
  /** Absent when the path does not exist in this value. */
  a?: unknown;
  b?: unknown;
}

/** Returns the innermost differences of two JSON values, in the order of `a`, then of `b`. */
export function differences(a: unknown, b: unknown, path = ""): Difference[] {
  if (Object.is(a, b)) return [];
  if (Array.isArray(a) && Array.isArray(b)) {
    const length = Math.max(a.length, b.length);
    return Array.from({ length }, (_, index) => index).flatMap((index) =>
      member(index in a, a[index], index in b, b[index], `${path}[${index}]`),
    );
  }
  if (isObject(a) && isObject(b)) {
    const names = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...names].flatMap((name) =>
      member(Object.hasOwn(a, name), a[name], Object.hasOwn(b, name), b[name], joined(path, name)),
    );
  }
  return [{ path, a, b }];
}

function member(inA: boolean, a: unknown, inB: boolean, b: unknown, path: string): Difference[] {
  if (inA && inB) return differences(a, b, path);
  return [{ path, ...(inA && { a }), ...(inB && { b }) }];
}

function joined(path: string, name: string): string {
  const isPlain = name !== "" && !/[.[\]"]/.test(name);
  if (!isPlain) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
