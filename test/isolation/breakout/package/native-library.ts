/** Calls into the C library through the foreign function interfaces of Bun and Deno. Node 24 has none. */
import { Absent } from "./attempts.ts";

interface Library {
  symbols: Record<string, (...values: unknown[]) => number | bigint>;
}

const path = "libc.so.6";

export function dlopen(name: string, values: readonly (number | string)[]): number {
  const { Deno } = globalThis as { Deno?: { dlopen(path: string, symbols: object): Library } };
  if (Deno === undefined && process.versions.bun === undefined) throw new Absent("no foreign functions");
  const call =
    Deno === undefined
      ? bunFunction(name, values)
      : Deno.dlopen(path, {
          [name]: {
            parameters: values.map((value) => (typeof value === "string" ? "buffer" : "i64")),
            result: "i32",
          },
        }).symbols[name];
  if (call === undefined) throw new Absent(`no ${name}`);
  const texts = values.map((value) =>
    typeof value === "string" ? Buffer.from(`${value}\0`) : Deno === undefined ? value : BigInt(value),
  );
  return Number(call(...texts));
}

function bunFunction(
  name: string,
  values: readonly (number | string)[],
): Library["symbols"][string] | undefined {
  const { dlopen: open } = process.getBuiltinModule("bun:ffi" as never) as unknown as {
    dlopen(path: string, symbols: object): Library;
  };
  const args = values.map((value) => (typeof value === "string" ? "ptr" : "i64"));
  return open(path, { [name]: { args, returns: "i32" } }).symbols[name];
}
