/**
 * A strict parser of the text format of Prometheus 0.0.4, with the rules that promtool checks: help and type before the
 * samples of a metric, all samples of a metric together, no sample twice, and complete histograms.
 */
export interface ExpositionSample {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

export interface ExpositionMetric {
  type: string;
  help: string;
  samples: ExpositionSample[];
}

const helpLine = /^# HELP ([a-zA-Z_:][\w:]*) (.+)$/;
const typeLine = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/;
const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/y;
const number = /^[+-]?(?:Inf|NaN|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)$/;

/** @throws Error that names the line */
export function parseExposition(text: string): Map<string, ExpositionMetric> {
  if (!text.endsWith("\n")) throw new Error("The text does not end with a line feed.");
  const metrics = new Map<string, ExpositionMetric>();
  const seen = new Set<string>();
  let current: { name: string; metric: ExpositionMetric } | null = null;
  let help: { name: string; text: string } | null = null;
  for (const [index, line] of text.slice(0, -1).split("\n").entries()) {
    const fail = (why: string): never => {
      throw new Error(`Line ${index + 1} (${line}): ${why}.`);
    };
    const helped = helpLine.exec(line);
    if (helped !== null) {
      help = { name: helped[1] ?? "", text: helped[2] ?? "" };
      continue;
    }
    const typed = typeLine.exec(line);
    if (typed !== null) {
      const [, name = "", type = ""] = typed;
      if (help?.name !== name) fail("its help does not precede it");
      if (metrics.has(name)) fail("the metric is listed twice");
      if (type === "counter" && !name.endsWith("_total")) fail("the name of a counter ends with _total");
      if (type !== "counter" && name.endsWith("_total")) fail("only counters end with _total");
      current = { name, metric: { type, help: help?.text ?? "", samples: [] } };
      metrics.set(name, current.metric);
      continue;
    }
    const [, name = "", pairs = "", value = ""] =
      sampleLine.exec(line) ?? fail("it is neither a comment nor a sample");
    if (current === null) return fail("no type precedes it");
    const suffixes = current.metric.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    const { name: family } = current;
    if (!suffixes.some((suffix) => name === family + suffix)) fail(`it does not belong to ${family}`);
    if (!number.test(value)) fail("its value is not a number");
    const key = `${name}{${pairs}}`;
    if (seen.has(key)) fail("the sample is listed twice");
    seen.add(key);
    current.metric.samples.push({ name, labels: parseLabels(pairs, fail), value: toNumber(value) });
  }
  for (const [name, metric] of metrics) if (metric.type === "histogram") checkHistogram(name, metric);
  return metrics;
}

function parseLabels(text: string, fail: (why: string) => never): Record<string, string> {
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  while (label.lastIndex < text.length) {
    const [, name = "", value = ""] = label.exec(text) ?? fail("its labels are malformed");
    if (name in labels) fail(`the label ${name} is repeated`);
    labels[name] = value.replaceAll(/\\([\\n"])/g, (_, escaped: string) =>
      escaped === "n" ? "\n" : escaped,
    );
  }
  return labels;
}

function toNumber(text: string): number {
  return Number(text.replace("Inf", "Infinity"));
}

function checkHistogram(name: string, { samples }: ExpositionMetric): void {
  const series = new Map<string, { buckets: ExpositionSample[]; sum: number; count: number }>();
  for (const sample of samples) {
    const { le: _, ...rest } = sample.labels;
    const key = JSON.stringify(rest);
    const entry = series.get(key) ?? { buckets: [], sum: Number.NaN, count: Number.NaN };
    series.set(key, entry);
    if (sample.name.endsWith("_bucket")) entry.buckets.push(sample);
    else if (sample.name.endsWith("_sum")) entry.sum = sample.value;
    else entry.count = sample.value;
  }
  for (const [key, { buckets, sum, count }] of series) {
    const bounds = buckets.map(({ labels }) => toNumber(labels.le ?? "NaN"));
    const isAscending = bounds.every((bound, at) => at === 0 || bound > (bounds[at - 1] ?? 0));
    const isCumulative = buckets.every(({ value }, at) => at === 0 || value >= (buckets[at - 1]?.value ?? 0));
    const isComplete = bounds.at(-1) === Number.POSITIVE_INFINITY && buckets.at(-1)?.value === count;
    if (!isAscending || !isCumulative || !isComplete || Number.isNaN(sum)) {
      throw new Error(`The histogram ${name}${key} is malformed.`);
    }
  }
}
