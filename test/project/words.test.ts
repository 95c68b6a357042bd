import { expect, test } from "vitest";
import { isName } from "../../project/names.ts";
import { comparePaths } from "../../project/package-file.ts";
import { didYouMean, suggest } from "../../project/suggest.ts";

test.each([
  ["dryrun", ["dry-run", "force"], "dry-run"],
  ["--dryrn", ["--dry-run", "--force"], "--dry-run"],
  ["agnets", ["agents", "workflows"], "agents"],
  ["timezoen", ["timeout", "timezone"], "timezone"],
  ["Field_Mapping", ["field_mapping"], "field_mapping"],
  ["slgu", ["slug", "signature"], "slug"],
  ["lsit", ["list", "show"], "list"],
])("suggests for %s one of %j", (word, candidates, expected) =>
  expect(suggest(word, candidates)).toBe(expected),
);

test.each([
  ["x", ["y"]],
  ["delete", ["download", "rollback"]],
  ["", ["a"]],
  ["a".repeat(1_000_000), ["agents"]],
  ["id", ["ok"]],
])("suggests nothing for %s", (word, candidates) => expect(suggest(word, candidates)).toBeUndefined());

test("suggests the closest candidate, and the first of equally close ones", () => {
  expect(suggest("shwo", ["slow", "show", "shew"])).toBe("show");
  expect(didYouMean("shwo", ["show"])).toBe(' (did you mean "show"?)');
  expect(didYouMean("zzzz", ["show"])).toBe("");
});

test("validates names", () => {
  for (const good of ["a", "A1", "0", "a_b-c", "a".repeat(64)]) expect(isName(good), good).toBe(true);
  for (const bad of ["", "_a", "-a", "a b", "a.b", "ä", "a/b", "a\n", "a".repeat(65)])
    expect(isName(bad), bad).toBe(false);
});

test("compares paths in the order of their UTF-8 bytes", () => {
  const paths = ["a", "a/b", "a-b", "B", "é", "\uffee", "😀", "\ud7ff", "z", "a0", ""];
  const bytes = (path: string): Buffer => Buffer.from(path);
  expect(paths.toSorted(comparePaths)).toEqual(paths.toSorted((a, b) => Buffer.compare(bytes(a), bytes(b))));
});
