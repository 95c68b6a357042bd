/** Writes to its log in every way there is. */
import fs from "node:fs";
import type { Context } from "../../../../project/authoring.ts";

const ways: Record<string, (ctx: Context) => unknown> = {
  methods: () => {
    console.debug("debug %s", "text");
    console.log("log", { a: [1, { b: 2 }] }, 3n);
    console.info("info");
    console.warn("warn");
    console.error(new RangeError("error"));
    console.group("group");
    console.log("inside\ntwo lines");
    console.groupEnd();
    console.log("outside");
    console.table([{ a: 1 }]);
    console.count();
    console.count();
    console.assert(1 > 2, "impossible");
    console.dir({ deep: { deeper: { deepest: {} } } }, { depth: 0 });
    console.timeEnd("never started");
  },
  context: ({ log }) => {
    log.debug("a", 1);
    log.info("b");
    log.warn("c");
    log.error("d");
  },
  fields: ({ log }) => {
    log.info("placed", { order: 17, big: 3n, at: new Date(0), cause: new RangeError("no stock") });
    log.info("%d orders", 2, { total: 5 });
    log.info("used %o", { here: 1 });
    log.info("large", { text: "x".repeat(5000) });
    log.info("function", { list: [() => 1] });
    log.info({ only: "value" });
    console.log("console", { a: 1 });
  },
  streams: () => {
    process.stdout.write("one ");
    process.stdout.write("line\nsecond");
    process.stderr.write(Buffer.from("problem\n"));
    fs.writeSync(1, "third\n");
    fs.writeSync(1, Buffer.from("xfourth\nx"), 1, 7);
  },
  long: () => {
    console.log("é".repeat(10_000));
  },
  many: () => {
    for (let i = 0; i < 1000; i++) console.log(`line ${i}`);
  },
  flood: async () => {
    const line = "x".repeat(100_000);
    for (let i = 0; i < 20_000; i++) console.log(line);
    await null;
  },
  floodStray: () => {
    setTimeout(() => {
      for (let i = 0; i < 20_000; i++) console.log(`stray ${i}`);
    }, 1);
  },
  beforeSpin: () => {
    console.log("about to spin");
    for (;;);
  },
  later: () => {
    setTimeout(() => console.log("after the end"), 1);
    setInterval(() => {
      throw new Error("after the end");
    }, 1);
  },
  raw: () => {
    const deno = (globalThis as { Deno?: { stderr: { writeSync(bytes: Uint8Array): number } } }).Deno;
    const bun = (globalThis as { Bun?: { stderr: unknown; write(to: unknown, text: string): unknown } }).Bun;
    if (deno !== undefined) deno.stderr.writeSync(new TextEncoder().encode("raw line\n"));
    else if (bun !== undefined) return bun.write(bun.stderr, "raw line\n");
    else (process as unknown as { _rawDebug(text: string): void })._rawDebug("raw line");
    return undefined;
  },
  nul: () => {
    console.log("a\0b");
  },
};

export default async function logs(input: { way: string }, ctx: Context): Promise<void> {
  await ways[input.way]?.(ctx);
}
