import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { onDatabase } from "../../../support/postgres/databases.ts";
import { PostgresServer } from "../../../support/postgres/server.ts";
import { Accepting } from "../../runner/accepting.ts";
import type { Goal, Options, Row } from "../../runner/case.ts";
import { interleave } from "../../runner/interleave.ts";
import { acceptOnly, Store, withLimitProgram, withServer } from "../../runner/server.ts";

const sizes = [
  { what: "150 bytes", bodyBytes: 150 },
  { what: "8 KB", bodyBytes: 8_192 },
  // Few connections and a longer measurement, because a slow disk takes seconds for 64 such bodies.
  { what: "256 KB over 8 connections", bodyBytes: 262_144, seconds: 3, connections: 8 },
];

/** With SQLite, compared with the limit program; with PostgreSQL, with a server that inserts one row for each request. */
export async function run(options: Options): Promise<Row[]> {
  return [...(await onSqlite(options)), ...(await onPostgres(options))];
}

async function onSqlite(options: Options): Promise<Row[]> {
  return withServer(acceptOnly, async (server, url) =>
    withLimitProgram(async (limit, folder) => {
      const stored = () => {
        const store = new Store(server);
        const database = new DatabaseSync(join(folder, "limit.db"), { readOnly: true });
        const theirs = database.prepare("SELECT COUNT(*) AS n FROM webhooks").get()?.n;
        const counts = { ours: store.count(), theirs: Number(theirs) };
        store.close();
        database.close();
        return counts;
      };
      const other = { name: "limit program", url: limit.url };
      const goals: Goal[] = [{ program: other.name, of: "ratio", atLeast: 0.65 }];
      return measureSizes("SQLite", url, other, stored, options, goals);
    }),
  );
}

async function onPostgres(options: Options): Promise<Row[]> {
  const postgres = await PostgresServer.start({ shared_buffers: "256MB" });
  try {
    for (const name of ["inserts", "svc"]) {
      await onDatabase(postgres.url(), `CREATE DATABASE ${name} TEMPLATE template0`);
    }
    const program = fileURLToPath(new URL("../../queue/insert-server.ts", import.meta.url));
    const inserts = spawn(process.execPath, [program, postgres.url("inserts")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [other] = (await once(createInterface(inserts.stdout), "line")) as [string];
    const count = async (database: string, table: string) => {
      const rows = await onDatabase<{ n: string }>(
        postgres.url(database),
        `SELECT COUNT(*) AS n FROM ${table}`,
      );
      return Number(rows[0]?.n);
    };
    const stored = async () => ({
      ours: await count("svc", "executions"),
      theirs: await count("inserts", "webhooks"),
    });
    const env = { ...acceptOnly.env, SVC_DATABASE_URL: postgres.url("svc") };
    try {
      return await withServer({ ...acceptOnly, env }, (_server, url) =>
        measureSizes("PostgreSQL", url, { name: "one insert for each request", url: other }, stored, options),
      );
    } finally {
      inserts.kill();
    }
  } finally {
    await postgres.discard();
  }
}

interface Stored {
  ours: number;
  theirs: number;
}

async function measureSizes(
  where: string,
  url: string,
  other: { name: string; url: string },
  stored: () => Stored | Promise<Stored>,
  options: Options,
  goals?: Goal[],
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { what, bodyBytes, seconds = options.seconds, connections = 64 } of sizes) {
    const before = await stored();
    const ours = new Accepting({ url, bodyBytes, seconds, connections, headers: {} });
    const theirs = new Accepting({ url: other.url, bodyBytes, seconds, connections, headers: {} });
    const programs = await interleave({ svc: ours.measure, [other.name]: theirs.measure }, options);
    const after = await stored();
    assert.equal(after.ours - before.ours, ours.accepted, "svc must have stored each accepted webhook");
    assert.equal(after.theirs - before.theirs, theirs.accepted);
    rows.push({
      what: `${what}, ${where}`,
      unit: "webhooks/s",
      programs,
      at: bodyBytes,
      ...(goals !== undefined && { goals }),
    });
  }
  return rows;
}
