/** The plots of docs/performance.md, from the results. */
import type { Program, Row } from "../runner/case.ts";
import { type Chart, lineChart, number, type Series } from "./chart.ts";
import type { Results } from "./results.ts";

/** File names below docs/performance with their SVG. A plot without results is left out. */
export function plotsOf(results: Results): Map<string, string> {
  const charts: Record<string, Chart> = {
    "throughput-by-connections": {
      title: "Accepted webhooks per second by connections",
      xLabel: "connections",
      yLabel: "webhooks per second",
      logX: true,
      series: everyProgram(rowsOf(results, "connections"), ({ median }) => median),
    },
    "latency-by-load": {
      title: "Webhook to the first line of the agent by load",
      xLabel: "load, % of the executions per second at saturation",
      yLabel: "ms",
      logY: true,
      series: latencies(rowsOf(results, "latency")),
    },
    "cost-by-body-size": {
      title: "Time for each accepted webhook by body size",
      xLabel: "bytes of the body",
      yLabel: "µs for each webhook",
      logX: true,
      logY: true,
      series: stores(rowsOf(results, "accept")),
      tickText: (bytes) => (bytes < 1024 ? `${bytes} bytes` : `${bytes / 1024} KB`),
    },
    "cost-by-backlog": growth("backlog", "queued executions", results, ["accepting", "executing"]),
    "cost-by-deployments": growth("deployments", "deployments", results, [""]),
    "cost-by-organizations": growth("organizations", "organizations", results, [""]),
  };
  const complete = Object.entries(charts).map(([name, chart]) => [name, withoutGaps(chart)] as const);
  const drawn = complete.filter(([, { series }]) => series.some(({ points }) => points.length > 1));
  return new Map(drawn.map(([name, chart]) => [`${name}.svg`, lineChart(chart)]));
}

/** Leaves out points without a value. */
function withoutGaps(chart: Chart): Chart {
  const series = chart.series.map(({ name, points }) => ({
    name,
    points: points.filter(([, y]) => Number.isFinite(y)),
  }));
  return { ...chart, series };
}

function rowsOf(results: Results, name: string): (Row & { at: number })[] {
  const rows = results.cases.find((one) => one.name === name)?.rows ?? [];
  return rows.filter((row): row is Row & { at: number } => row.at !== undefined);
}

function everyProgram(
  rows: readonly (Row & { at: number })[],
  value: (program: Program) => number,
): Series[] {
  return (rows[0]?.programs ?? []).map(({ name }, index) => ({
    name,
    points: rows.map(({ at, programs }) => [at, figureOf(programs[index], value)] as const),
  }));
}

function figureOf(program: Program | undefined, value: (program: Program) => number): number {
  return program === undefined ? Number.NaN : value(program);
}

/** Without the row at 20 per second, which is not a share of the capacity. */
function latencies(rows: readonly (Row & { at: number })[]): Series[] {
  const shares = rows.slice(1);
  const p50 = everyProgram(shares, ({ p50Ms = Number.NaN }) => p50Ms);
  const p99 = everyProgram(shares, ({ p99Ms = Number.NaN }) => p99Ms);
  const named = (list: Series[], what: string) =>
    list.map(({ name, points }, index) => ({
      name: `${index === 0 ? name : "bare child process"}, ${what}`,
      points,
    }));
  return [...named(p50, "p50"), ...named(p99, "p99")];
}

function stores(rows: readonly (Row & { at: number })[]): Series[] {
  return ["SQLite", "PostgreSQL"].flatMap((store) =>
    everyProgram(
      rows.filter(({ what }) => what.endsWith(store)),
      ({ median }) => 1e6 / median,
    ).map(({ name, points }) => ({ name: `${name}, ${store}`, points })),
  );
}

/** The time for each webhook or execution, in multiples of that at the smallest size. */
function growth(name: string, xLabel: string, results: Results, kinds: readonly string[]): Chart {
  const series = kinds.map((kind): Series => {
    const rows = rowsOf(results, name).filter(({ what, at }) => what.startsWith(kind) && at > 0);
    const first = rows[0]?.programs[0]?.median ?? Number.NaN;
    const points = rows.map(({ at, programs }) => [at, first / (programs[0]?.median ?? Number.NaN)] as const);
    return { name: kind === "" ? "svc" : kind, points };
  });
  const title = `Time for each webhook or execution by ${name}`;
  return { title, xLabel, yLabel: "multiples of the first", logX: true, series, tickText: number };
}
