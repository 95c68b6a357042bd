/**
 * The conversion between PostgreSQL's types and those of the store. Values arrive and leave as text; `arrays.ts` has the
 * arrays of row sets.
 */
import type { SqlValue } from "../engine.ts";

/** Object ids of types, from `pg_type`. */
const bool = 16;
const bytea = 17;
const int8 = 20;
const int2 = 21;
const int4 = 23;
const float4 = 700;
const float8 = 701;
const numeric = 1700;

const numbers: ReadonlySet<number> = new Set([int8, int2, int4, float4, float8, numeric]);

/** The parser of a column. `COUNT` is int8 and `SUM` of int8 is numeric: both stay below 2^53 here. */
export function parserOf(type: number): (text: string) => SqlValue {
  if (numbers.has(type)) return Number;
  if (type === bool) return (text) => (text === "t" ? 1 : 0);
  if (type === bytea) return (text) => new Uint8Array(Buffer.from(text.slice(2), "hex"));
  return String;
}

export type Bound = string | Buffer | null;

/** A parameter. */
export function bind(value: SqlValue): Bound {
  if (value === null) return null;
  if (typeof value === "string") return withoutNull(value);
  return value instanceof Uint8Array ? Buffer.from(value) : String(value);
}

/** Text in PostgreSQL cannot contain U+0000, which becomes U+FFFD. */
export function withoutNull(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\ufffd") : text;
}
