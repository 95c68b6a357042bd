/** docs/monitoring.md, the alert rules and the dashboard against the metrics of the code. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { type Definition, observed, recorded } from "../../server/telemetry/metrics/definitions.ts";
import { root } from "../support/runtimes.ts";

const path = join(root, "docs/monitoring.md");
const page = readFileSync(path, "utf8");
const definitions: Definition[] = [...Object.values(recorded), ...Object.values(observed)];
const marker = /(<!-- The table is generated.*?-->\n\n)(?:\|.*\n)*/;

const code = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(", ");
const table = [
  "| metric | type | labels | meaning |",
  "|---|---|---|---|",
  ...definitions.map(
    ({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${code(labels)} | ${help} |`,
  ),
].join("\n");

test("the table lists all metrics", () => {
  const expected = page.replace(marker, (_, start: string) => `${start}${table}\n`);
  if (process.env.UPDATE_DOCS !== undefined) writeFileSync(path, expected);
  else expect(page).toBe(expected);
});

/** The names of series, with those that Prometheus makes of a histogram. */
const series = new Set(
  definitions.flatMap(({ name, type }) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
);

function unknownNames(expressions: readonly string[]): string[] {
  const names = expressions.flatMap((text) => text.match(/\b(?:svc|process)_\w+/g) ?? []);
  expect(names.length).toBeGreaterThan(10);
  return names.filter((name) => !series.has(name));
}

/** The labels that an expression selects or groups by, besides those of Prometheus. */
function unknownLabels(expressions: readonly string[]): string[] {
  const known = new Set([...definitions.flatMap(({ labels }) => labels), "le", "job", "instance"]);
  const named = expressions.flatMap((text) => [
    ...[...text.matchAll(/[{,]\s*(\w+)\s*(?:=|!=|=~|!~)"/g)].map(([, label = ""]) => label),
    ...[...text.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(/,\s*/)),
  ]);
  return named.filter((label) => !known.has(label));
}

test("the alert rules use existing metrics and labels", () => {
  const file = parse(readFileSync(join(root, "docs/monitoring/alerts.yaml"), "utf8")) as {
    groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
  };
  const rules = file.groups.flatMap((group) => group.rules);
  const expressions = rules.map(({ expr }) => expr);
  expect(unknownNames(expressions)).toEqual([]);
  expect(unknownLabels(expressions)).toEqual([]);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { annotations } of rules) expect(annotations.summary).not.toBe("");
});

test("the dashboard shows every metric and no other", () => {
  const dashboard = JSON.parse(readFileSync(join(root, "docs/monitoring/dashboard.json"), "utf8")) as {
    panels: { id: number; targets?: { expr: string }[] }[];
  };
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(unknownNames(expressions)).toEqual([]);
  expect(unknownLabels(expressions)).toEqual([]);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  const shown = expressions.join(" ");
  const hidden = ["svc_build_info", "svc_store_up", "process_start_time_seconds"];
  const missing = definitions.filter(({ name }) => !shown.includes(name) && !hidden.includes(name));
  expect(missing.map(({ name }) => name)).toEqual([]);
});
