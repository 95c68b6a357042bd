import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { expect, test } from "vitest";
import { all, type Engine, first, type Program, run } from "../../server/store/engine.ts";
import { migrations } from "../../server/store/migrations.ts";
import { openSqlite } from "../../server/store/sqlite.ts";
import { openStore, rows, temporaryFolder } from "../support/store.ts";

const insert = "INSERT INTO things (id, value) VALUES (?, ?)";

async function withThings(folder?: string): Promise<Engine> {
  const engine = openStore(folder);
  await engine.write(() =>
    run("CREATE TABLE things (id INTEGER PRIMARY KEY, value INTEGER NOT NULL CHECK (value >= 0))"),
  );
  return engine;
}

const things = (engine: Engine) =>
  rows<{ id: number; value: number }>(engine, "SELECT * FROM things ORDER BY id");

test("applies each write of a batch completely or not at all", async () => {
  const engine = await withThings();
  /** How a write ends, and after how many rows. */
  const fate = fc.constantFrom(
    "succeeds",
    "throws",
    "breaks a rule",
    "repeats an id",
    "catches",
    "is no SQL",
  );
  const write = fc.record({ fate, rows: fc.integer({ min: 0, max: 3 }) });
  let id = 0;
  const expected: { id: number; value: number }[] = [];
  await fc.assert(
    fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 30 }), async (writes) => {
      const promised = writes.map(({ fate, rows: count }) => {
        const own = Array.from({ length: count }, () => ({ id: ++id, value: id }));
        const program = function* (): Program<number> {
          for (const row of own) yield* run(insert, row.id, row.value);
          if (fate === "throws") throw new Error("thrown by the program");
          if (fate === "breaks a rule") yield* run(insert, id + 1_000_000, -1);
          if (fate === "repeats an id" && own[0] !== undefined) yield* run(insert, own[0].id, 0);
          if (fate === "is no SQL") yield* run("SELEKT 1");
          if (fate === "catches") {
            try {
              yield* run(insert, id + 1_000_000, -1);
            } catch {
              // A failed statement has no effect; the program may continue.
            }
          }
          return own.length;
        };
        const fails = fate !== "succeeds" && fate !== "catches" && (fate !== "repeats an id" || count > 0);
        return { own, fails, settled: engine.write(program) };
      });
      const settled = await Promise.allSettled(promised.map((one) => one.settled));
      for (const [index, { own, fails }] of promised.entries()) {
        const result = settled[index];
        expect(result?.status).toBe(fails ? "rejected" : "fulfilled");
        if (result?.status === "fulfilled") expect(result.value).toBe(own.length);
        if (!fails) expected.push(...own);
      }
      expect(await things(engine)).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

test("applies more writes than one commit holds, in order", async () => {
  const engine = await withThings();
  const order: number[] = [];
  const writes = Array.from({ length: 2_500 }, (_, id) =>
    engine.write(() => run(insert, id, id)).then(() => order.push(id)),
  );
  await Promise.all(writes);
  expect(order).toEqual(Array.from({ length: 2_500 }, (_, id) => id));
  expect((await things(engine)).length).toBe(2_500);
});

test("reads committed rows only", async () => {
  const engine = await withThings();
  const waiting = engine.write(() => run(insert, 1, 1));
  expect(await things(engine)).toEqual([]);
  await waiting;
  expect(await things(engine)).toEqual([{ id: 1, value: 1 }]);
  const failing = engine.write(function* () {
    yield* run(insert, 2, 2);
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await things(engine)).toEqual([{ id: 1, value: 1 }]);
});

test("makes an acknowledged write visible to other handles", async () => {
  const folder = temporaryFolder();
  const engine = await withThings(folder);
  const other = openStore(folder);
  for (let id = 0; id < 50; id++) {
    await engine.write(() => run(insert, id, id));
    expect((await things(other)).length).toBe(id + 1);
  }
});

test("changes the version when another handle writes, and only then", async () => {
  const folder = temporaryFolder();
  const engine = await withThings(folder);
  const other = openStore(folder);
  const before = engine.version();
  await engine.write(() => run(insert, 1, 1));
  expect(engine.version()).toBe(before);
  await other.write(() => run(insert, 2, 2));
  expect(engine.version()).not.toBe(before);
});

test("delays writes, but not reads, while another handle holds the lock", async () => {
  const folder = temporaryFolder();
  const engine = await withThings(folder);
  const other = new DatabaseSync(join(folder, "svc.db"));
  other.exec("BEGIN IMMEDIATE");
  const written = engine.write(() => run(insert, 1, 1));
  // The event loop ends the other transaction: a write that blocked it would never finish.
  await setTimeout(50);
  expect(await things(engine)).toEqual([]);
  other.exec("COMMIT");
  other.close();
  await written;
  expect(await things(engine)).toEqual([{ id: 1, value: 1 }]);
  await engine.close();
});

test("fails a write that another handle blocks for too long, and accepts the next one", async () => {
  const folder = temporaryFolder();
  const engine = await withThings(folder);
  const other = new DatabaseSync(join(folder, "svc.db"));
  other.exec("BEGIN IMMEDIATE");
  await expect(engine.write(() => run(insert, 1, 1))).rejects.toThrow("database is locked");
  other.exec("COMMIT");
  other.close();
  await engine.write(() => run(insert, 3, 3));
  expect(await things(engine)).toEqual([{ id: 3, value: 3 }]);
  await engine.close();
});

test("lets another process write while this one writes without pause", async () => {
  const folder = temporaryFolder();
  const engine = await withThings(folder);
  const writer = new Worker(new URL("../support/writer.ts", import.meta.url), {
    workerData: { folder, insert },
  });
  const exit = once(writer, "exit");
  let over = false;
  void exit.finally(() => {
    over = true;
  });
  let own = 1_000;
  while (!over) await engine.write(() => run(insert, ++own, 1));
  expect(await exit).toEqual([0]);
  expect((await things(engine)).filter(({ id }) => id <= 100)).toHaveLength(100);
  await engine.close();
});

test("finishes pending writes and rejects new ones on close", async () => {
  const folder = temporaryFolder();
  const engine = openSqlite(folder);
  await engine.write(() => run("CREATE TABLE things (id INTEGER PRIMARY KEY)"));
  const waiting = engine.write(() => run("INSERT INTO things VALUES (7)"));
  await engine.close();
  await waiting;
  await expect(engine.write(() => run("INSERT INTO things VALUES (8)"))).rejects.toThrow(
    "the store is closed",
  );
  await engine.close();
  expect(await rows(openStore(folder), "SELECT * FROM things")).toEqual([{ id: 7 }]);
});

test("syncs every commit, uses a write-ahead log and enforces foreign keys", async () => {
  const engine = openStore();
  expect(await rows(engine, "PRAGMA synchronous")).toEqual([{ synchronous: 2 }]);
  expect(await rows(engine, "PRAGMA journal_mode")).toEqual([{ journal_mode: "wal" }]);
  expect(await rows(engine, "PRAGMA foreign_keys")).toEqual([{ foreign_keys: 1 }]);
});

test("reopens a store, and refuses one with a newer schema", async () => {
  const folder = temporaryFolder();
  const engine = openSqlite(folder);
  const versions = "SELECT version FROM migrations ORDER BY version";
  const steps = migrations.map((_, index) => ({ version: index + 1 }));
  expect(await rows(engine, versions)).toEqual(steps);
  await engine.close();
  const again = openSqlite(folder);
  expect(await rows(again, versions)).toEqual(steps);
  await again.write(() => run("INSERT INTO migrations VALUES (?, 0)", migrations.length + 1));
  await again.close();
  expect(() => openSqlite(folder)).toThrow(
    `Cannot open the store: it has schema version ${migrations.length + 1}, this program knows ${migrations.length}`,
  );
});

test("passes the rows of each statement to its program", async () => {
  const engine = await withThings();
  const result = await engine.write(function* () {
    const none = yield* first(`${insert} RETURNING id`, 1, 5);
    const row = yield* first<{ value: number }>("SELECT value FROM things WHERE id = 1");
    const many = yield* all("SELECT id FROM things");
    return { none, row, many };
  });
  expect(result).toEqual({ none: { id: 1 }, row: { value: 5 }, many: [{ id: 1 }] });
});
