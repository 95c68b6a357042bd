/** A chart over time. The table of its values is for screen readers. */
import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { locale } from "../lib/format.ts";
import { theme } from "../lib/theme.ts";

export interface Series {
  label: string;
  /** A color of the style sheet: the name of a custom property. */
  color: string;
  values: readonly (number | null)[];
  /** The value of the whole period, where it is not the sum: percentiles cannot be added. */
  total?: string;
}

export function Chart({
  label,
  times,
  series,
  format,
}: {
  label: string;
  /** Seconds since 1970. */
  times: readonly number[];
  series: readonly Series[];
  format(value: number): string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const chosen = theme.use();
  const data = [times, ...series.map(({ values }) => values)] as uPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;
  const plot = useRef<uPlot | null>(null);
  const names = series.map((one) => one.label).join();
  const [Plot, setPlot] = useState<typeof uPlot | null>(null);
  // Without the library, which some browsers refuse, the caption has the totals.
  useEffect(() => {
    // The library passes the language of the browser to `Intl` when it loads.
    if (locale !== undefined) Object.defineProperty(navigator, "language", { value: locale });
    void import("uplot").then(
      (library) => setPlot(() => library.default),
      () => null,
    );
  }, []);
  // The plot is created again for other series and another theme.
  useEffect(() => {
    const element = box.current;
    if (element === null || Plot === null) return;
    const styles = getComputedStyle(document.documentElement);
    const color = (name: string) => styles.getPropertyValue(`--${name}`).trim();
    const axis = {
      stroke: color("dim"),
      grid: { stroke: color("border"), width: 1 },
      ticks: { show: false },
    };
    const made = new Plot(
      {
        width: element.clientWidth,
        height: 200,
        cursor: { points: { size: 6 } },
        legend: { live: true },
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(max * 1.1, 1)] } },
        axes: [
          { ...axis, values: (_plot, values, _axis, _space, step) => values.map((at) => timeText(at, step)) },
          {
            ...axis,
            size: axisSize,
            values: (_plot, values) => values.map((value) => valueText(value, format)),
          },
        ],
        series: [
          {},
          ...series.map((one) => ({
            label: one.label,
            stroke: color(one.color),
            width: 2,
            points: { show: isAlone(one.values) },
            value: (_plot: uPlot, value: number | null) => (value === null ? "–" : format(value)),
          })),
        ],
      },
      latest.current,
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: 200 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [chosen, names, Plot]);
  useEffect(() => plot.current?.setData(latest.current));
  return (
    <figure class="chart">
      <div ref={box} aria-hidden="true" />
      <figcaption class={Plot === null ? "dim" : "hidden"}>
        {label}: {series.map((one) => `${one.label} ${one.total ?? format(sum(one.values))}`).join(", ")}
      </figcaption>
    </figure>
  );
}

/** A line needs two neighbors; a point alone is drawn as one. */
function isAlone(values: readonly (number | null)[]): boolean {
  return !values.some((value, index) => value !== null && values[index + 1] != null);
}

/** As wide as the longest label, in pixels: 12 px of the system font need about 7 for a character. */
function axisSize(_plot: uPlot, labels: readonly string[] | null): number {
  return Math.max(40, 16 + 7 * Math.max(0, ...(labels ?? []).map(({ length }) => length)));
}

/** Counts have no fractions. */
function valueText(value: number, format: (value: number) => string): string {
  return Number.isInteger(value) ? format(value) : "";
}

/** @param step - seconds between two times of the axis */
function timeText(at: number, step: number): string {
  const date = new Date(at * 1000);
  if (step >= 86_400) return date.toLocaleDateString(locale, { month: "short", day: "numeric" });
  return date.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", hour12: false });
}

function sum(values: readonly (number | null)[]): number {
  return values.reduce((total: number, value) => total + (value ?? 0), 0);
}
