/** Serializes the return value of users' code as JSON. */

/** A value cannot be represented as JSON, or is too large. */
export class OutputError extends Error {
  override readonly name: string = "OutputError";
}

/**
 * @param value - any value. `undefined` becomes null, or is omitted from an object, as with `JSON.stringify`
 * @param what - the name of the value in the error, for example `the output`
 * @param maxDepth - levels of arrays and objects. RFC 8259, section 9, allows a limit, and readers of outputs recurse
 * @throws OutputError when JSON cannot represent the value, or the text has more than `maxBytes`
 */
export function toJson(value: unknown, what: string, maxBytes: number, maxDepth: number): string {
  const holders: unknown[] = [];
  const keys: string[] = [];

  let json: string;
  try {
    json = JSON.stringify(value === undefined ? null : value, check) ?? "null";
  } catch (error) {
    if (error instanceof OutputError) throw error;
    throw new OutputError(`Cannot store ${what} as JSON: ${reason(error)}`, { cause: error });
  }
  // A UTF-16 unit takes at most three bytes, so that most texts need no count.
  if (json.length * 3 > maxBytes) {
    const bytes = Buffer.byteLength(json);
    if (bytes > maxBytes) {
      throw new OutputError(`Cannot store ${what}: it may have ${maxBytes} bytes as JSON, but has ${bytes}`);
    }
  }
  return json;

  /** Called for each member after `toJSON`, with the containing object as `this`. */
  function check(this: unknown, key: string, member: unknown): unknown {
    while (holders.length > 0 && holders[holders.length - 1] !== this) {
      holders.pop();
      keys.pop();
    }
    switch (typeof member) {
      case "object":
        if (member === null) return member;
        if (holders.includes(member)) throw refuse(key, "is part of a cycle");
        if (holders.length >= maxDepth) throw refuse(key, `is nested deeper than ${maxDepth} levels`);
        holders.push(member);
        keys.push(key);
        return member;
      case "bigint":
        throw refuse(key, "is a BigInt");
      case "function":
        throw refuse(key, "is a function");
      case "symbol":
        throw refuse(key, "is a symbol");
      case "number":
        if (!Number.isFinite(member)) throw refuse(key, `is ${member}`);
        return member;
      default:
        return member;
    }
  }

  function refuse(key: string, problem: string): OutputError {
    const path = [...keys, key].filter((step) => step !== "").join(".");
    return new OutputError(
      `Cannot store ${what} as JSON: ${path === "" ? "it" : `its member ${path}`} ${problem}`,
    );
  }
}

function reason(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "unreadable error";
  }
}
