/** The contract of an engine, on both engines. */

import { describe, expect, test } from "vitest";
import { Batch } from "../../server/store/batch.ts";
import { all, type Engine, each, first, notify, type Program, run } from "../../server/store/engine.ts";
import { migrations } from "../../server/store/migrations.ts";
import fc from "../support/property.ts";
import { engineNames, type Store, stores } from "./stores.ts";

interface Thing {
  id: number;
  value: number;
}

const insert = "INSERT INTO things (id, value) VALUES (?1, ?2)";

async function withThings(store: Store): Promise<Engine> {
  const engine = await store.open();
  await engine.write(() =>
    run("CREATE TABLE things (id BIGINT PRIMARY KEY, value BIGINT NOT NULL CHECK (value >= 0), text TEXT)"),
  );
  return engine;
}

const things = (engine: Engine): Promise<Thing[]> =>
  engine.read(() => all<Thing>("SELECT id, value FROM things ORDER BY id"));

describe.each(engineNames)("%s", (name) => {
  test("applies each write completely or not at all, whatever happens to its neighbours", async () => {
    const engine = await withThings(await stores[name]());
    const fates = ["succeeds", "throws", "breaks a rule", "repeats an id", "catches", "is no SQL"] as const;
    const write = fc.record({ fate: fc.constantFrom(...fates), rows: fc.integer({ min: 0, max: 3 }) });
    let id = 0;
    const expected: Thing[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 30 }), async (writes) => {
        const promised = writes.map(({ fate, rows }) => {
          const own = Array.from({ length: rows }, () => ({ id: ++id, value: id }));
          const fails = fate !== "succeeds" && fate !== "catches" && (fate !== "repeats an id" || rows > 0);
          return { own, fails, settled: engine.write(() => apply(own, fate, id)) };
        });
        const settled = await Promise.allSettled(promised.map((entry) => entry.settled));
        for (const [index, { own, fails }] of promised.entries()) {
          expect(settled[index]).toMatchObject(
            fails ? { status: "rejected" } : { status: "fulfilled", value: own.length },
          );
          if (!fails) expected.push(...own);
        }
        expect(await things(engine)).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  });

  function* apply(own: readonly Thing[], fate: string, last: number): Program<number> {
    for (const row of own) yield* run(insert, row.id, row.value);
    if (fate === "throws") throw new Error("thrown by the program");
    if (fate === "breaks a rule") yield* run(insert, last + 1_000_000, -1);
    if (fate === "repeats an id" && own[0] !== undefined) yield* run(insert, own[0].id, 0);
    if (fate === "is no SQL") yield* run("SELEKT 1");
    if (fate === "catches") {
      try {
        yield* run(insert, last + 1_000_000, -1);
      } catch {
        // A failed statement has no effect; the program may continue.
      }
    }
    return own.length;
  }

  test("reads committed rows only, and makes an acknowledged write visible to other handles", async () => {
    const store = await stores[name]();
    const engine = await withThings(store);
    const other = await store.open();
    for (let id = 0; id < 20; id++) {
      await engine.write(() => run(insert, id, id));
      expect(await things(other)).toHaveLength(id + 1);
    }
    const failing = engine.write(function* () {
      yield* run(insert, 100, 1);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await things(engine)).toHaveLength(20);
  });

  test("stores and returns the same values", async () => {
    const engine = await withThings(await stores[name]());
    const texts = [
      "",
      "é\u{1f600}",
      `"quotes" and \\ and {braces},`,
      "NULL",
      "line\nbreak\ttab\r",
      '{"a":"\\u0000"}',
      "'",
    ];
    const values = [0, 1, 2 ** 53 - 1, 1_700_000_000_000];
    const rows = [...texts, null].map((text, id) => [id, values[id % 4] ?? 0, text] as const);
    const insertAll =
      "INSERT INTO things SELECT r.id, r.value, r.text FROM ROWS(id int, value int, text text) r";
    await engine.write(() => each(insertAll, rows));
    for (const [id, value, text] of rows) {
      await engine.write(() => run("INSERT INTO things VALUES (?1, ?2, ?3)", id + 100, value, text));
    }
    const stored = await engine.read(() => all("SELECT * FROM things ORDER BY id"));
    const expected = rows.map(([id, value, text]) => ({ id, value, text }));
    expect(stored).toEqual([...expected, ...expected.map((row) => ({ ...row, id: row.id + 100 }))]);
    expect(await engine.read(() => first("SELECT COUNT(*) AS n, SUM(id) AS s FROM things"))).toEqual({
      n: 16,
      s: 856,
    });
  });

  test("gives each row of a batch its own result, and repeats a failed batch row by row", async () => {
    const engine = await withThings(await stores[name]());
    const batch = new Batch<Thing, number>(engine, function* (rows) {
      yield* each(
        "INSERT INTO things (id, value) SELECT r.id, r.value FROM ROWS(id int, value int) r",
        rows.map(({ id, value }) => [id, value]),
      );
      return rows.map(({ id }) => id);
    });
    const settled = await Promise.allSettled(
      Array.from({ length: 50 }, (_, id) => batch.add({ id, value: id === 7 ? -1 : id })),
    );
    const failed = settled.flatMap(({ status }, id) => (status === "rejected" ? [id] : []));
    expect(failed).toEqual([7]);
    expect(await things(engine)).toHaveLength(49);
  });

  test("notifies every handle after the commit", async () => {
    const store = await stores[name]();
    const engine = await withThings(store);
    const handles = [engine, await store.open()];
    const heard = handles.map((handle) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      // A handle may also be told that any key has changed.
      handle.listen("cancel", (key) => {
        if (key === "exe_1" || key === null) resolve();
      });
      return promise;
    });
    await engine.write(function* () {
      yield* run(insert, 1, 1);
      yield* notify("cancel", "exe_1");
    });
    await Promise.all(heard);
  });

  test("loses no update of two handles", async () => {
    const store = await stores[name]();
    const engine = await withThings(store);
    const handles = [engine, await store.open()];
    await engine.write(() => run(insert, 1, 0));
    const increments = Array.from({ length: 100 }, (_, index) =>
      handles[index % 2]?.write(() => run("UPDATE things SET value = value + 1 WHERE id = 1")),
    );
    await Promise.all(increments);
    expect(await things(engine)).toEqual([{ id: 1, value: 100 }]);
  });

  test("finishes pending writes on close, and rejects new ones", async () => {
    const store = await stores[name]();
    const engine = await withThings(store);
    const pending = engine.write(() => run(insert, 7, 7));
    await engine.close();
    await pending;
    await expect(engine.write(() => run(insert, 8, 8))).rejects.toThrow("the store is closed");
    await engine.close();
    expect(await things(await store.open())).toEqual([{ id: 7, value: 7 }]);
  });

  test("brings an empty store to the newest schema once, however many handles open it together", async () => {
    const store = await stores[name]();
    const handles = await Promise.all(Array.from({ length: 8 }, () => store.open()));
    for (const handle of handles) {
      const rows = await handle.read(() =>
        all<{ version: number }>("SELECT version FROM migrations ORDER BY version"),
      );
      expect(rows.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
    }
  });

  test("refuses a store with a newer schema", async () => {
    const store = await stores[name]();
    const engine = await store.open();
    await engine.write(() =>
      run("INSERT INTO migrations (version, applied_at) VALUES (?1, 0)", migrations.length + 1),
    );
    await engine.close();
    await expect(store.open()).rejects.toThrow(
      `Cannot open the store: it has schema version ${migrations.length + 1}, this program knows ${migrations.length}; use a newer svc.`,
    );
  });
});
