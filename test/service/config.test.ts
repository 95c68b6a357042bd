/** Environment variables of the limits and of the database. */
import { describe, expect, test } from "vitest";
import { limitVariables } from "../../server/config/limits.ts";
import { loadConfig } from "../../server/config.ts";

const aliases = Object.entries(limitVariables).flatMap(([limit, { variable, alias }]) =>
  alias === undefined ? [] : [{ limit: limit as keyof typeof limitVariables, variable, alias }],
);

describe("renamed variables", () => {
  test("cover the limits of runners", () => {
    expect(aliases.map(({ alias }) => alias).toSorted()).toEqual([
      "SVC_CHILDREN_PER_DEPLOYMENT",
      "SVC_CHILD_MEMORY_BYTES",
      "SVC_EXECUTIONS_PER_CHILD",
    ]);
  });

  test.each(aliases)("$alias sets the limit when $variable is not set", ({ limit, variable, alias }) => {
    const former = String(2 ** 30);
    const current = String(2 ** 29);
    expect(loadConfig({}, { [alias]: former }).limits[limit]).toBe(2 ** 30);
    expect(loadConfig({}, { [alias]: former, [variable]: "" }).limits[limit]).toBe(2 ** 30);
    expect(loadConfig({}, { [alias]: former, [variable]: current }).limits[limit]).toBe(2 ** 29);
  });

  test.each(aliases)("names $alias in the error for a value that it holds", ({ alias }) => {
    expect(() => loadConfig({}, { [alias]: "many" })).toThrow(alias);
  });
});

describe("SVC_DATABASE_URL", () => {
  test("selects PostgreSQL with the default number of connections", () => {
    const url = "postgres://svc:secret@db.example:5432/svc";
    expect(loadConfig({}, {}).database).toBeNull();
    expect(loadConfig({}, { SVC_DATABASE_URL: "" }).database).toBeNull();
    expect(loadConfig({}, { SVC_DATABASE_URL: url }).database).toEqual({ url, connections: 9 });
  });

  test.each([
    ["db.example/svc", /the value is no URL/],
    ["mysql://svc:secret@db.example/svc", /not one that begins with 'mysql:'/],
    ["postgres://svc:secret@/svc", /has no host|is no URL/],
    ["postgres://svc:secret@db.example", /'postgres:\/\/db.example' has no database/],
  ])("refuses %s and does not repeat the password", (value, message) => {
    const load = () => loadConfig({}, { SVC_DATABASE_URL: value });
    expect(load).toThrow(/^Cannot use SVC_DATABASE_URL: it must be a URL such as /);
    expect(load).toThrow(message);
    expect(load).not.toThrow(/secret/);
  });

  test("refuses fewer connections than the store needs", () => {
    const env = { SVC_DATABASE_URL: "postgres://db.example/svc", SVC_DATABASE_CONNECTIONS: "2" };
    expect(() => loadConfig({}, env)).toThrow(
      "Cannot use SVC_DATABASE_CONNECTIONS: it must be a whole number from 3 to 1000, not '2'.",
    );
  });
});
