/** Counters and histograms in memory, and the text format of Prometheus, version 0.0.4. */
import type { Definition } from "./definitions.ts";

/** A sample of a gauge. */
export interface Sample {
  definition: Definition;
  /** In the order of the labels of the definition. */
  labels?: readonly string[];
  value: number;
}

/** Bounds the memory if a label has more values than intended. Further series are not counted. */
const maxSeries = 1_000;
const separator = "\u0000";

export class Counter {
  readonly definition: Definition;
  readonly #values = new Map<string, number>();

  constructor(definition: Definition) {
    this.definition = definition;
    // A rate of a series that appears with its first value would miss that value.
    if (definition.labels.length === 0) this.#values.set("", 0);
  }

  /** @param labels - in the order of the definition */
  add(...labels: string[]): void {
    const key = labels.join(separator);
    const value = this.#values.get(key);
    if (value === undefined && this.#values.size >= maxSeries) return;
    this.#values.set(key, (value ?? 0) + 1);
  }

  lines(): string[] {
    const { name, labels } = this.definition;
    return [...this.#values].map(([key, value]) => line(name, labels, valuesOf(key, labels), value));
  }
}

interface Distribution {
  counts: Float64Array;
  sum: number;
}

export class Histogram {
  readonly definition: Definition;
  readonly #buckets: readonly number[];
  readonly #series = new Map<string, Distribution>();

  constructor(definition: Definition) {
    this.definition = definition;
    this.#buckets = definition.buckets ?? [];
    if (definition.labels.length === 0) this.#distribution("");
  }

  observe(value: number, ...labels: string[]): void {
    const series = this.#distribution(labels.join(separator));
    if (series === undefined) return;
    // The clock may have been set back.
    const counted = Math.max(value, 0);
    let index = 0;
    while (index < this.#buckets.length && counted > (this.#buckets[index] ?? 0)) index++;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += counted;
  }

  lines(): string[] {
    const { name, labels } = this.definition;
    return [...this.#series].flatMap(([key, { counts, sum }]) => {
      const values = valuesOf(key, labels);
      let total = 0;
      const buckets = [...counts].map((count, index) => {
        total += count;
        const bound = this.#buckets[index];
        const limit = bound === undefined ? "+Inf" : String(bound);
        return line(`${name}_bucket`, [...labels, "le"], [...values, limit], total);
      });
      return [
        ...buckets,
        line(`${name}_sum`, labels, values, sum),
        line(`${name}_count`, labels, values, total),
      ];
    });
  }

  #distribution(key: string): Distribution | undefined {
    let found = this.#series.get(key);
    if (found === undefined && this.#series.size < maxSeries) {
      found = { counts: new Float64Array(this.#buckets.length + 1), sum: 0 };
      this.#series.set(key, found);
    }
    return found;
  }
}

/** The text of all metrics, each with its help and type. */
export function render(metrics: readonly (Counter | Histogram)[], samples: readonly Sample[]): string {
  const groups = new Map<Definition, string[]>();
  for (const metric of metrics) groups.set(metric.definition, metric.lines());
  for (const { definition, labels = [], value } of samples) {
    const lines = groups.get(definition) ?? [];
    groups.set(definition, lines);
    lines.push(line(definition.name, definition.labels, labels, value));
  }
  const text = [...groups].map(([{ name, type, help }, lines]) =>
    [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`, ...lines].join("\n"),
  );
  return `${text.join("\n")}\n`;
}

function valuesOf(key: string, labels: readonly string[]): string[] {
  return labels.length === 0 ? [] : key.split(separator);
}

/** A label with an empty value is the same as no label. */
function line(name: string, labels: readonly string[], values: readonly string[], value: number): string {
  const pairs = labels
    .map((label, index) => [label, values[index] ?? ""] as const)
    .filter(([, text]) => text !== "")
    .map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
