import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { Batch } from "../../../server/store/batch.ts";
import { toPostgres } from "../../../server/store/dialects/postgres.ts";
import { toSqlite } from "../../../server/store/dialects/sqlite.ts";
import { all, type Engine, each, first, notify, type Program, run } from "../../../server/store/engine.ts";
import { migrations } from "../../../server/store/migrations.ts";
import { openSqlite } from "../../../server/store/sqlite/index.ts";
import fc from "../../support/property.ts";
import { openStore, rows, temporaryFolder } from "../../support/store.ts";

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

test("notifies listeners of each commit that names their topic, once per key", async () => {
  const engine = await withThings();
  const calls: (string | null)[] = [];
  const stop = engine.listen("routes", (key) => calls.push(key));
  const notifying = (id: number, key: string, fails = false) =>
    engine.write(function* () {
      yield* notify("routes", key);
      yield* notify("secrets", key);
      yield* run(insert, id, fails ? -1 : 1);
    });
  const both = Promise.all([notifying(1, "a"), notifying(2, "a"), notifying(3, "b")]);
  expect(calls).toEqual([]);
  await both;
  expect(calls).toEqual(["a", "b"]);
  await expect(notifying(4, "c", true)).rejects.toThrow("CHECK");
  stop();
  await notifying(5, "d");
  expect(calls.filter((key) => key !== "c")).toEqual(["a", "b"]);
});

test("notifies every listener when another handle writes, and not of its own writes", async () => {
  const folder = temporaryFolder();
  const engine = await withThings(folder);
  const other = openStore(folder);
  const { promise: notified, resolve } = Promise.withResolvers<string | null>();
  engine.listen("secrets", resolve);
  await engine.write(() => run(insert, 1, 1));
  await setTimeout(250);
  await other.write(() => run(insert, 2, 2));
  expect(await notified).toBeNull();
});

test("runs one statement over the rows of a row set", async () => {
  const engine = await withThings();
  const inserted = await engine.write(() =>
    each<{ id: number }>(
      "INSERT INTO things (id, value) SELECT r.id, r.value + ?1 FROM ROWS(id int, value int) r RETURNING id",
      [
        [1, 10],
        [2, 20],
        [3, 30],
      ],
      100,
    ),
  );
  expect(inserted.map(({ id }) => id).sort()).toEqual([1, 2, 3]);
  const changed = await engine.write(() =>
    each<{ id: number; value: number }>(
      `UPDATE things SET value = r.value FROM ROWS(id int, before int, value int) r
WHERE things.id = r.id AND things.value = r.before RETURNING things.id, things.value`,
      [
        [1, 110, 1],
        [2, 0, 2],
      ],
    ),
  );
  expect(changed).toEqual([{ id: 1, value: 1 }]);
  await engine.write(() =>
    each("DELETE FROM things USING ROWS(id int) r WHERE things.id = r.id", [[1], [3]]),
  );
  expect(await things(engine)).toEqual([{ id: 2, value: 120 }]);
  expect(await engine.write(() => each("DELETE FROM things USING ROWS(id int) r", []))).toEqual([]);
});

test("writes the rows of one turn as one batch, and rejects only a row that fails", async () => {
  const engine = await withThings();
  const sizes: number[] = [];
  const batch = new Batch<{ id: number; value: number }, number>(engine, function* (rows) {
    sizes.push(rows.length);
    yield* each(
      "INSERT INTO things (id, value) SELECT r.id, r.value FROM ROWS(id int, value int) r",
      rows.map(({ id, value }) => [id, value]),
    );
    return rows.map(({ id }) => id * 2);
  });
  expect(await Promise.all([1, 2, 3].map((id) => batch.add({ id, value: 1 })))).toEqual([2, 4, 6]);
  expect(sizes).toEqual([3]);
  const settled = await Promise.allSettled([4, 1, 5].map((id) => batch.add({ id, value: 1 })));
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect((await things(engine)).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
});

test("adapts a statement to each dialect", () => {
  const sql = `UPDATE things SET value = r.value + ?2, at = ?1 FROM ROWS(id int, value int) r
WHERE things.id = r.id FOR UPDATE SKIP LOCKED`;
  expect(toSqlite(sql)).toBe("UPDATE things SET value = ?4 + ?2, at = ?1\nWHERE things.id = ?3");
  expect(toPostgres(sql).text).toBe(
    `UPDATE things SET value = r.value + $2, at = $1 FROM unnest($3::bigint[], $4::bigint[]) AS r(id, value)
WHERE things.id = r.id FOR UPDATE SKIP LOCKED`,
  );
  expect(() => toSqlite("SELECT r.b FROM ROWS(a int) r")).toThrow("no such column");
  expect(() => toPostgres("SELECT r.a FROM ROWS(a bool) r")).toThrow("must be text or int, not 'bool'");
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
  const writer = new Worker(new URL("../../support/writer.ts", import.meta.url), {
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

test("opens a store while another process holds its write lock", async () => {
  const folder = temporaryFolder();
  await openSqlite(folder).close();
  const other = new DatabaseSync(join(folder, "svc.db"));
  other.exec("BEGIN IMMEDIATE");
  const engine = openSqlite(folder);
  expect(await rows(engine, "PRAGMA auto_vacuum")).toEqual([{ auto_vacuum: 2 }]);
  await engine.close();
  other.close();
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
  await again.write(() =>
    run("INSERT INTO migrations (version, applied_at) VALUES (?, 0)", migrations.length + 1),
  );
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
