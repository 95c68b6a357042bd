/**
 * The columns of a row set as arrays in PostgreSQL's binary format, which is that of `array_recv`: the number of dimensions,
 * whether there are nulls, the type of the elements, the length and the first index, then the length and the bytes of each
 * element. All numbers are big-endian.
 *
 * Array literals lost: this process escaped the quotes of JSON text and PostgreSQL parsed them again, which took most of the
 * time of a large body.
 */
import type { SqlValue } from "../engine.ts";
import { withoutNull } from "./values.ts";

export type ColumnType = "text" | "int";

/** Object ids of the types of elements, from `pg_type`. */
const ids = { text: 25, int: 20 } as const;

const headerBytes = 20;
const isNull = -1;

/** @throws RangeError when the value of an `int` is no integer */
export function bindColumns(rows: readonly (readonly SqlValue[])[], types: readonly ColumnType[]): Buffer[] {
  return types.map((type, column) => {
    const values = rows.map((row) => row[column] ?? null);
    return type === "int" ? integers(values) : texts(values);
  });
}

function integers(values: readonly SqlValue[]): Buffer {
  const array = arrayOf("int", values, values.length * 12);
  let at = headerBytes;
  for (const value of values) {
    if (value === null) {
      at = array.writeInt32BE(isNull, at);
      continue;
    }
    if (value instanceof Uint8Array) throw noBytes();
    at = array.writeInt32BE(8, at);
    at = array.writeBigInt64BE(BigInt(value), at);
  }
  return array.subarray(0, at);
}

function texts(values: readonly SqlValue[]): Buffer {
  let size = 0;
  const elements = values.map((value) => {
    if (value instanceof Uint8Array) throw noBytes();
    const text = value === null ? null : withoutNull(String(value));
    size += text === null ? 4 : 4 + Buffer.byteLength(text);
    return text;
  });
  const array = arrayOf("text", values, size);
  let at = headerBytes;
  for (const text of elements) {
    const length = text === null ? isNull : array.write(text, at + 4);
    array.writeInt32BE(length, at);
    at += 4 + Math.max(0, length);
  }
  return array;
}

function arrayOf(type: ColumnType, values: readonly SqlValue[], size: number): Buffer {
  const array = Buffer.allocUnsafe(headerBytes + size);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  array.writeInt32BE(ids[type], 8);
  array.writeInt32BE(values.length, 12);
  array.writeInt32BE(1, 16);
  return array;
}

function noBytes(): Error {
  return new Error("Cannot store bytes in a row set.");
}
