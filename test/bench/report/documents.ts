/** Writes the results of a run, and the parts of docs/performance.md that come from them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../support/runtimes.ts";
import { plotsOf } from "./plots.ts";
import type { Results } from "./results.ts";
import { sectionOf } from "./tables.ts";

export const document: string = join(root, "docs/performance.md");
export const folder: string = join(root, "docs/performance");
export const resultsFile: string = join(folder, "results.json");

const section = /(<!-- results: ([\w-]+) -->\n)[\s\S]*?(<!-- end of results -->)/g;

/** The document with the content of all its sections. A case without results has an empty one. */
export function withResults(text: string, results: Results): string {
  return text.replace(section, (_all, begin: string, name: string, end: string) => {
    return `${begin}\n${sectionOf(name, results) ?? "Not measured."}\n\n${end}`;
  });
}

/** Names of the sections of the document, in its order. */
export function sectionsOf(text: string): string[] {
  return [...text.matchAll(section)].map(([, , name = ""]) => name);
}

/** @param partial - replaces only the cases of these results in the stored ones */
export function writeDocuments(results: Results, partial: boolean): void {
  const all = partial && existsSync(resultsFile) ? merged(readResults(), results) : results;
  mkdirSync(folder, { recursive: true });
  writeFileSync(resultsFile, `${JSON.stringify(rounded(all), null, 2)}\n`);
  renderDocuments();
}

/** Writes the tables and plots of the stored results. */
export function renderDocuments(): void {
  const results = readResults();
  for (const [name, svg] of plotsOf(results)) writeFileSync(join(folder, name), svg);
  writeFileSync(document, withResults(readFileSync(document, "utf8"), results));
}

export function readResults(): Results {
  return JSON.parse(readFileSync(resultsFile, "utf8")) as Results;
}

function merged(old: Results, { machine, options, cases }: Results): Results {
  const kept = old.cases.filter(({ name }) => cases.every((one) => one.name !== name));
  return { machine, options, cases: [...kept, ...cases] };
}

/** Five significant digits. Infinite and unknown values become null in JSON, so that they are left out. */
function rounded<Value>(value: Value): Value {
  const text = JSON.stringify(value, (_key, one: unknown) =>
    typeof one === "number" ? Number(one.toPrecision(5)) : one,
  );
  return JSON.parse(text) as Value;
}
