import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Table, tablesOf } from "../../server/store/copy.ts";
import { all, type Engine, each, first, type Row, run, type SqlValue } from "../../server/store/engine.ts";
import { migrations } from "../../server/store/migrations.ts";
import { openPostgres } from "../../server/store/postgres/index.ts";
import { openSqlite } from "../../server/store/sqlite/index.ts";
import { createDatabase } from "../support/postgres/databases.ts";
import { type Result, svc } from "./support.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-admin-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function newDatabase(): Promise<string> {
  const { url, drop } = await createDatabase();
  onTestFinished(drop);
  return url;
}

const admin = (args: string, url: string): Promise<Result> =>
  svc("bun", ["admin", ...args.split(" ")], { env: { SVC_DATABASE_URL: url } });

/** Runs work on an engine and closes it. */
async function using<T>(engine: Engine, work: (engine: Engine) => Promise<T>): Promise<T> {
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

/** Fills every table; the order of the texts differs between a language's and the bytes'. */
async function fill(engine: Engine, tables: readonly Table[], rows: number): Promise<void> {
  const texts = ["a", "B", "é", "Z", "z", "", '{"a": "\\u0000"}', "line\nbreak", "\u{1f600}", "_"];
  for (const { name, columns, key } of tables) {
    const values = Array.from({ length: rows }, (_, row) =>
      columns.map((column): SqlValue => {
        if (column.name === "org_id" && !(key.length === 1 && key[0] === "org_id")) return "a1";
        if (column.type === "int") return key.includes(column.name) ? row + 1 : 2 ** 41 + row;
        return `${texts[row % texts.length]}${row}`;
      }),
    );
    const names = columns.map((column) => column.name);
    const types = columns.map((column) => `${column.name} ${column.type}`);
    const sql = `INSERT INTO ${name} (${names.join(", ")}) SELECT ${names.map((column) => `r.${column}`).join(", ")} FROM ROWS(${types.join(", ")}) r`;
    if (name === "organizations")
      await engine.write(() => run("INSERT INTO organizations VALUES ('a1', 'first', 1)"));
    await engine.write(() => each(sql, values));
  }
}

const contents = (engine: Engine, tables: readonly Table[]): Promise<Record<string, Row[]>> =>
  tables.reduce<Promise<Record<string, Row[]>>>(async (before, { name, key }) => {
    const rows = await engine.read(() => all(`SELECT * FROM ${name} ORDER BY ${key.join(", ")}`));
    return { ...(await before), [name]: rows };
  }, Promise.resolve({}));

test("svc admin export and import move a store to PostgreSQL and back without loss", async () => {
  const [folder, back, url] = [newFolder(), newFolder(), await newDatabase()];
  const tables = await using(openSqlite(folder), async (engine) => {
    const found = await tablesOf(engine);
    await fill(engine, found, 250);
    return found;
  });
  // Opening it completes `log_ends`, as after a server of version 0.1.
  const before = await using(openSqlite(folder), (engine) => contents(engine, tables));
  expect(tables.length).toBeGreaterThan(12);

  const exported = await admin(`export --data ${folder}`, url);
  expect(exported.stderr).toMatch(/Copied and compared \d+,?\d* rows\./);
  expect(exported.code).toBe(0);
  expect(await using(await openPostgres({ url }), (engine) => contents(engine, tables))).toEqual(before);

  const again = await admin(`export --data ${folder}`, url);
  expect(again.stderr).toMatch(
    /^error: Cannot copy the store: the target must be empty, and its table \w+ has rows\./,
  );
  expect(again.code).toBe(1);

  const imported = await admin(`import --data ${back} --json`, url);
  const { tables: copied } = JSON.parse(imported.stdout) as { tables: { table: string; rows: number }[] };
  expect(copied.map(({ table }) => table).toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  expect(await using(openSqlite(back), (engine) => contents(engine, tables))).toEqual(before);

  const onto = await admin(`import --data ${back}`, url);
  expect(onto.stderr).toMatch(
    /^error: Cannot copy the store: the target must be empty, and .* contains a store\./,
  );

  // PostgreSQL continues the numbers of the copied events.
  await using(await openPostgres({ url }), async (engine) => {
    const insert =
      "INSERT INTO deployment_events (org_id, deployment_id, at, event) VALUES ('a1', 'd', 1, 'e') RETURNING seq";
    expect(await engine.write(() => first(insert))).toEqual({ seq: 251 });
  });
});

test("svc admin import that fails leaves no store", async () => {
  const [folder, url] = [newFolder(), await newDatabase()];
  expect((await admin("migrate", url)).code).toBe(0);
  await using(await openPostgres({ url }), (engine) =>
    engine.write(function* () {
      yield* run("INSERT INTO organizations VALUES ('org_1', 'first', 1)");
      yield* run("DROP TABLE secrets");
    }),
  );
  // Left by an import that was killed.
  openSqlite(join(folder, "importing")).close();
  const failed = await admin(`import --data ${folder}`, url);
  expect(failed.stderr).toMatch(/^error: .*relation "secrets" does not exist/);
  expect(failed.code).toBe(1);
  expect(readdirSync(folder)).toEqual(["server.lock"]);
});

test("svc admin export reports the characters that PostgreSQL cannot store", async () => {
  const [folder, url] = [newFolder(), await newDatabase()];
  await using(openSqlite(folder), (engine) =>
    engine.write(() => run("INSERT INTO organizations VALUES ('org_1', ?1, 1)", "a\0b")),
  );
  const exported = await admin(`export --data ${folder}`, url);
  expect(exported.stderr).toContain(
    "warning: PostgreSQL cannot store the character U+0000: it is U+FFFD in 1 text now.",
  );
  expect(exported.code).toBe(0);
});

test("svc admin works on the database of SVC_DATABASE_URL", async () => {
  const url = await newDatabase();
  const migrated = await admin("migrate --json", url);
  expect(JSON.parse(migrated.stdout)).toEqual({ schema_version: migrations.length });
  const created = await admin("organizations create Example --json", url);
  const { organization } = JSON.parse(created.stdout) as { organization: { org_id: string } };
  const listed = await admin("organizations list --json", url);
  expect(JSON.parse(listed.stdout)).toMatchObject({ organizations: [{ org_id: organization.org_id }] });

  // A server has connections with this name.
  await using(await openPostgres({ url }), async () => {
    const folder = newFolder();
    const refused = await admin(`import --data ${folder}`, url);
    expect(refused.stderr).toMatch(
      /^error: Cannot change the store: a server uses the database; stop all servers\./,
    );
  });
});

test("svc admin says what is wrong with the database, without its password", async () => {
  const url = new URL(await newDatabase());
  url.password = "hush";
  const refused = await admin("organizations list", url.href);
  expect(refused.stderr).toMatch(
    /^error: Cannot open the store postgres:\/\/\S+: PostgreSQL: password authentication/,
  );
  expect(refused.stderr).not.toContain("hush");
  expect(refused.code).toBe(1);
  const none = await svc("bun", ["admin", "export"], {});
  expect(none.stderr).toMatch(/^error: SVC_DATABASE_URL is not set: it must be/);
});
