/** Databases for tests, each new and empty, on the server of this run or on that of `SVC_TEST_DATABASE_URL`. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { askEndpoint } from "../endpoints.ts";

let server: Promise<string> | null = null;

/** The URL of a database with the right to create others. @throws Error when PostgreSQL cannot start */
export function serverUrl(): Promise<string> {
  server ??= process.env.SVC_TEST_DATABASE_URL
    ? Promise.resolve(process.env.SVC_TEST_DATABASE_URL)
    : askEndpoint("postgres");
  return server;
}

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

export async function createDatabase(): Promise<TestDatabase> {
  const base = await serverUrl();
  const name = `test_${randomBytes(8).toString("hex")}`;
  await onServer(base, `CREATE DATABASE ${name} TEMPLATE template0`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(base, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** Runs a statement on a connection of its own and returns its rows. */
export async function onDatabase<Row>(url: string, sql: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

async function onServer(url: string, sql: string): Promise<void> {
  await onDatabase(url, sql);
}
