import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { entries } from "../cases/index.ts";
import { document, folder, readResults, sectionsOf, withResults } from "./documents.ts";
import { plotsOf } from "./plots.ts";

const text = readFileSync(document, "utf8");

test("the tables of docs/performance.md come from the stored results", () => {
  expect(text).toBe(withResults(text, readResults()));
});

test("the plots of docs/performance.md come from the stored results", () => {
  const plots = plotsOf(readResults());
  for (const [name, svg] of plots) expect(readFileSync(join(folder, name), "utf8"), name).toBe(svg);
  const shown = [...text.matchAll(/\]\(performance\/([\w-]+\.svg)\)/g)].map(([, name]) => name);
  expect(shown.toSorted()).toEqual([...plots.keys()].toSorted());
});

test("docs/performance.md has a section for every case", () => {
  const names = entries.map(({ name }) => name);
  expect(sectionsOf(text).toSorted()).toEqual(["machine", ...names].toSorted());
});

test("every case has one line of description", () => {
  for (const { summary } of entries) expect(summary).toMatch(/^[^\n]{10,120}$/);
});
