/** The table of keys in docs/scaling.md against the snapshot of PostgreSQL's schema. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/runtimes.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const section = read("docs/scaling.md").split("## Sharding\n")[1]?.split("\n## ")[0] ?? "";
const documented = [...section.matchAll(/^\| (`[^|]+) \| ([^|]+) \|/gm)].flatMap(([, names = "", key = ""]) =>
  [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => ({ name, key })),
);
const keys = [
  ...read("test/service/data/rolling-upgrade-schema.txt").matchAll(/^(\w+)\.\w+: PRIMARY KEY \((.+)\)$/gm),
].map(([, name = "", key = ""]) => ({ name, key }));

test("names every table", () => {
  const names = (tables: { name: string }[]) => tables.map(({ name }) => name).toSorted();
  expect(keys.length).toBeGreaterThan(20);
  expect(names(documented)).toEqual(names(keys));
});

test("marks the keys that do not begin with the organization", () => {
  const exceptions = keys.filter(({ key }) => !key.startsWith("org_id")).map(({ name }) => name);
  const marked = documented.filter(({ key }) => !key.startsWith("`org_id")).map(({ name }) => name);
  expect(marked.toSorted()).toEqual(exceptions.toSorted());
});
