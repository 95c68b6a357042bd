/** Environment variables of the limits. */
import { describe, expect, test } from "vitest";
import { limitVariables, loadConfig } from "../../server/config.ts";

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
