/** The PostgreSQL engine when the database or the connection fails. */
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { RetryInfoSchema } from "../../proto/google/rpc/error_details_pb.ts";
import { reasonIn } from "../../server/errors/details.ts";
import { toPublicError } from "../../server/errors.ts";
import { all, type Engine, first, notify, type Program, run, runEach } from "../../server/store/engine.ts";
import { openPostgres } from "../../server/store/postgres/index.ts";
import { StoreLost, StoreUnavailable } from "../../server/store/unavailable.ts";
import { onDatabase } from "../support/postgres/databases.ts";
import { DatabaseProxy } from "../support/postgres/proxy.ts";
import { newDatabase, openDatabase } from "./stores.ts";

const insert = "INSERT INTO things VALUES (?1)";

async function newProxy(url: string): Promise<DatabaseProxy> {
  const proxy = await DatabaseProxy.start(url);
  onTestFinished(() => proxy.close());
  return proxy;
}

async function withThings(url: string): Promise<void> {
  await onDatabase(url, "CREATE TABLE things (id BIGINT PRIMARY KEY, value BIGINT NOT NULL DEFAULT 0)");
}

const idsIn = async (url: string): Promise<number[]> =>
  (await onDatabase<{ id: string }>(url, "SELECT id FROM things ORDER BY id")).map(({ id }) => Number(id));

test("reconnects, repeats writes and reads, and reports that anything may have changed", async () => {
  const url = await newDatabase();
  await withThings(url);
  const proxy = await newProxy(url);
  const engine = await openDatabase({ url: proxy.url });
  await engine.write(() => run(insert, 1));
  const told = new Promise((resolve) => engine.listen("routes", (key) => key === null && resolve(true)));
  proxy.down = true;
  proxy.cut();
  const written = engine.write(() => run(insert, 2));
  const read = engine.read(() => all("SELECT id FROM things WHERE id = 1"));
  await setTimeout(300);
  proxy.down = false;
  await written;
  expect(await read).toEqual([{ id: 1 }]);
  expect(await told).toBe(true);
  expect(await idsIn(url)).toEqual([1, 2]);
});

test("writes once when the connection ends before the commit arrives, and when its answer is lost", async () => {
  const url = await newDatabase();
  await withThings(url);
  const proxy = await newProxy(url);
  const engine = await openDatabase({ url: proxy.url, connections: 3 });
  let runs = 0;
  const write = (id: number): Promise<string> =>
    engine.write(function* () {
      runs++;
      yield* run(insert, id);
      yield* notify("queued", "dep_1");
      return `wrote ${id}`;
    });
  await write(1);

  // On a new connection the text of each statement is sent.
  const isCommit = commitWatcher();
  proxy.cut();
  proxy.toServer = (chunk) => !isCommit(chunk);
  const cutBefore = write(2);
  await isCommit.seen;
  proxy.toServer = () => true;
  expect(await cutBefore).toBe("wrote 2");
  expect(runs).toBeGreaterThanOrEqual(3);

  runs = 0;
  const isCommitted = commitWatcher();
  proxy.toClient = (chunk) => !isCommitted(chunk);
  const cutAfter = write(3);
  await isCommitted.seen;
  proxy.toClient = () => true;
  expect(await cutAfter).toBe("wrote 3");
  // Not repeated: the row of the connection says that the transaction was committed.
  expect(runs).toBe(1);
  expect(await idsIn(url)).toEqual([1, 2, 3]);
});

/** Recognizes the statement `COMMIT`, and the answer to it. */
function commitWatcher(): ((chunk: Buffer) => boolean) & { seen: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watch = (chunk: Buffer): boolean => {
    const found = chunk.includes("COMMIT\0");
    if (found) resolve();
    return found;
  };
  return Object.assign(watch, { seen: promise });
}

test("writes once on a connection whose row was deleted after it was idle for days", async () => {
  const url = await newDatabase();
  await withThings(url);
  const engine = await openDatabase({ url, connections: 3 });
  for (const id of [1, 2]) {
    await engine.write(() => run("DELETE FROM commit_marks"));
    // As new executions are written: begin, mark, rows and commit in one round trip.
    await engine.write(() => runEach("INSERT INTO things SELECT r.id FROM ROWS(id int) r", [[id]]));
  }
  expect(await idsIn(url)).toEqual([1, 2]);
});

test("rejects calls with StoreUnavailable when the database is away, and recovers", async () => {
  const url = await newDatabase();
  await withThings(url);
  const proxy = await newProxy(url);
  const engine = await openDatabase({ url: proxy.url, waitMs: 300 });
  proxy.down = true;
  proxy.cut();
  const calls = [engine.write(() => run(insert, 1)), engine.read(() => all("SELECT * FROM things"))];
  for (const result of await Promise.allSettled(calls)) {
    const { reason } = result as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(StoreUnavailable);
    expect(String(reason)).toContain("The store is unreachable");
    expect(String(reason)).not.toContain("s3cret");
  }
  proxy.down = false;
  await vi.waitFor(() => engine.write(() => run(insert, 2)), { timeout: 10_000 });
  expect(await idsIn(url)).toEqual([2]);
});

test("tells when a write may have happened, so that clients do not repeat it", async () => {
  const url = await newDatabase();
  await withThings(url);
  const proxy = await newProxy(url);
  const engine = await openDatabase({ url: proxy.url, waitMs: 300, outcomeMs: 300 });
  const isCommitted = commitWatcher();
  proxy.toClient = (chunk) => {
    if (!isCommitted(chunk)) return true;
    proxy.down = true;
    proxy.cut();
    return false;
  };
  const error = await engine.write(() => run(insert, 1)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StoreLost);
  expect(await idsIn(url)).toEqual([1]);
  const shown = toPublicError(error, () => {});
  expect(reasonIn(shown)).toBe("OUTCOME_UNKNOWN");
  expect(shown.findDetails(RetryInfoSchema)).toEqual([]);
});

test("limits the callers that wait for a connection", async () => {
  const url = await newDatabase();
  await withThings(url);
  // Opening the first connection must not take longer than `waitMs`.
  const engine = await openDatabase({ url, connections: 3, waitMs: 1_000, timeouts: { lockMs: 30_000 } });
  await engine.write(() => run(insert, 100));
  const held = Promise.withResolvers<void>();
  const blocked = lockThings(url, held.promise);
  await blocked.locked;
  const writes = Array.from({ length: 20 }, (_, id) => engine.write(() => run(insert, id)));
  const settled = Promise.allSettled(writes);
  const limited = Promise.withResolvers<void>();
  let failures = 0;
  for (const write of writes) write.catch(() => ++failures === 19 && limited.resolve());
  await limited.promise;
  held.resolve();
  await blocked.done;
  const rejected = (await settled).filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
  expect(rejected).toHaveLength(19);
  for (const { reason } of rejected) expect(reason).toBeInstanceOf(StoreUnavailable);
});

test("ends a statement that waits too long for a lock, with StoreUnavailable", async () => {
  const url = await newDatabase();
  await withThings(url);
  const engine = await openDatabase({ url, timeouts: { lockMs: 100 } });
  const held = Promise.withResolvers<void>();
  const blocked = lockThings(url, held.promise);
  await blocked.locked;
  await expect(engine.write(() => run(insert, 1))).rejects.toThrow(StoreUnavailable);
  held.resolve();
  await blocked.done;
  await engine.write(() => run(insert, 2));
});

/** Locks the table until a promise resolves. */
function lockThings(url: string, until: Promise<void>): { locked: Promise<void>; done: Promise<void> } {
  const locked = Promise.withResolvers<void>();
  const done = (async () => {
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("BEGIN");
    await client.query("LOCK TABLE things IN EXCLUSIVE MODE");
    locked.resolve();
    await until;
    await client.query("ROLLBACK");
    await client.end();
  })();
  return { locked: locked.promise, done };
}

test("repeats the transactions that a deadlock ends", async () => {
  const url = await newDatabase();
  await withThings(url);
  await onDatabase(url, "INSERT INTO things VALUES (1), (2)");
  await onDatabase(
    url,
    "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = 10', current_database()); END $$",
  );
  const [one, two] = [await openDatabase({ url }), await openDatabase({ url })];
  const update = function* (ids: number[]): Program<void> {
    for (const id of ids) {
      yield* run("UPDATE things SET value = value + 1 WHERE id = ?1", id);
      yield* first("SELECT pg_sleep(0.05)");
    }
  };
  await Promise.all([one.write(() => update([1, 2])), two.write(() => update([2, 1]))]);
  expect(await one.read(() => all("SELECT value FROM things"))).toEqual([{ value: 2 }, { value: 2 }]);
});

test("notices a connection that no longer answers", async () => {
  const url = await newDatabase();
  const proxy = await newProxy(url);
  const engine = await openDatabase({ url: proxy.url, timeouts: { connectMs: 500 } });
  let calls = 0;
  engine.listen("keys", () => calls++);
  proxy.silent = true;
  await vi.waitFor(() => expect(calls).toBeGreaterThan(0), { timeout: 30_000 });
  proxy.silent = false;
  const [heard, other] = [Promise.withResolvers<void>(), await openDatabase({ url })];
  engine.listen("keys", (key) => key === "key_1" && heard.resolve());
  await vi.waitFor(
    async () => {
      await other.write(() => notify("keys", "key_1"));
      await Promise.race([heard.promise, setTimeout(100).then(() => Promise.reject(new Error("not heard")))]);
    },
    { timeout: 10_000 },
  );
});

test("syncs commits although the database's default is asynchronous", async () => {
  const url = await newDatabase();
  await onDatabase(
    url,
    "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$",
  );
  const engine: Engine = await openDatabase({ url });
  const setting = await engine.read(() => first("SELECT current_setting('synchronous_commit') AS value"));
  expect(setting).toEqual({ value: "on" });
});

test("says in one sentence why the store cannot be opened, without the password", async () => {
  const url = new URL(await newDatabase());
  const { port, pathname } = url;
  const cases: [Partial<URL>, RegExp][] = [
    [{ password: "wrong" }, /password authentication failed/],
    [{ pathname: "/no_such_database" }, /database "no_such_database" does not exist/],
    [{ port: "1" }, /ECONNREFUSED/],
  ];
  for (const [change, reason] of cases) {
    const wrong = Object.assign(new URL(url), change);
    const error: Error = await openPostgres({ url: wrong.href }).then(
      () => new Error("It was opened."),
      (reason: Error) => reason,
    );
    expect(error.message).toMatch(/^Cannot open the store postgres:\/\/127\.0\.0\.1:\d+\/\w+: /);
    expect(error.message).toMatch(reason);
    expect(error.message).not.toMatch(/s3cret|wrong|svc:/);
  }
  expect([port, pathname]).toEqual([url.port, url.pathname]);
});
