/** Line charts as SVG. Colours follow the reader's light or dark scheme; marks tell series apart without colours. */
import { linear, logarithmic, type Scale } from "./ticks.ts";

export interface Series {
  name: string;
  /** In the order of x. */
  points: readonly (readonly [x: number, y: number])[];
}

export interface Chart {
  title: string;
  xLabel: string;
  yLabel: string;
  series: readonly Series[];
  /** Logarithmic axes. The ticks of x are the values of x. */
  logX?: boolean;
  logY?: boolean;
  tickText?: (x: number) => string;
}

const width = 720;
const height = 400;
const box = { left: 76, right: 36, top: 64, bottom: 56 };
const inner = { width: width - box.left - box.right, height: height - box.top - box.bottom };

const style = `
  .back { fill: #ffffff; } .grid { stroke: #e2e5ea; } .axis { stroke: #8b93a1; }
  text { fill: #3a4150; font: 12px system-ui, sans-serif; } .title { font-size: 15px; font-weight: 600; fill: #14181f; }
  .s0 { color: #1d5fd1; } .s1 { color: #b45309; } .s2 { color: #0f766e; } .s3 { color: #9333a8; }
  .line { fill: none; stroke: currentColor; stroke-width: 2; } .mark { fill: currentColor; }
  @media (prefers-color-scheme: dark) {
    .back { fill: #12161c; } .grid { stroke: #2a313b; } .axis { stroke: #6f7a88; }
    text { fill: #c3cad4; } .title { fill: #f0f3f7; }
    .s0 { color: #6ea8ff; } .s1 { color: #f5b14c; } .s2 { color: #3fd0bd; } .s3 { color: #d78bf0; }
  }`;

export function lineChart(chart: Chart): string {
  const { title, xLabel, yLabel, series, logX = false, logY = false } = chart;
  const xs = [...new Set(series.flatMap(({ points }) => points.map(([x]) => x)))].sort((a, b) => a - b);
  const ys = series.flatMap(({ points }) => points.map(([, y]) => y));
  const x = logX ? logarithmic(xs, xs) : linear(xs);
  const y = logY ? logarithmic(ys) : linear(ys);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${style}\n</style>`,
    `<rect class="back" width="${width}" height="${height}" rx="6"/>`,
    `<text class="title" x="16" y="26">${escaped(title)}</text>`,
    ...legend(series),
    ...yAxis(y),
    ...xAxis(x, chart.tickText ?? number),
    `<text x="${box.left + inner.width / 2}" y="${height - 14}" text-anchor="middle">${escaped(xLabel)}</text>`,
    `<text transform="translate(18 ${box.top + inner.height / 2}) rotate(-90)" text-anchor="middle">${escaped(yLabel)}</text>`,
    ...series.map(({ points }, index) => line(points, index, x, y)),
    "</svg>",
  ];
  return `${parts.join("\n")}\n`;
}

function line(points: Series["points"], index: number, x: Scale, y: Scale): string {
  const places = points.map(([px, py]) => [placeX(x.at(px)), placeY(y.at(py))] as const);
  const path = places.map(([px, py]) => `${px},${py}`).join(" ");
  const marks = places.map(([px, py]) => mark(index, px, py)).join("");
  return `<g class="s${index}"><polyline class="line" points="${path}"/>${marks}</g>`;
}

function mark(index: number, x: number, y: number): string {
  if (index % 4 === 0) return `<circle class="mark" cx="${x}" cy="${y}" r="4"/>`;
  if (index % 4 === 1)
    return `<rect class="mark" x="${round(x - 3.5)}" y="${round(y - 3.5)}" width="7" height="7"/>`;
  const [up, down] = index % 4 === 2 ? [-5, 3.5] : [5, -3.5];
  const corners = [
    `${x},${round(y + up)}`,
    `${round(x - 4.5)},${round(y + down)}`,
    `${round(x + 4.5)},${round(y + down)}`,
  ];
  return `<polygon class="mark" points="${corners.join(" ")}"/>`;
}

function legend(series: readonly Series[]): string[] {
  let at = 20;
  return series.map(({ name }, index) => {
    const x = at;
    at += 26 + name.length * 6.6;
    return `<g class="s${index}">${mark(index, x, 45)}<text x="${x + 10}" y="49">${escaped(name)}</text></g>`;
  });
}

function yAxis(scale: Scale): string[] {
  return scale.ticks.flatMap((tick) => {
    const y = placeY(scale.at(tick));
    const end = box.left + inner.width;
    return [
      `<line class="grid" x1="${box.left}" x2="${end}" y1="${y}" y2="${y}"/>`,
      `<text x="${box.left - 8}" y="${y + 4}" text-anchor="end">${number(tick)}</text>`,
    ];
  });
}

function xAxis(scale: Scale, text: (value: number) => string): string[] {
  const y = box.top + inner.height;
  return [
    `<line class="axis" x1="${box.left}" x2="${box.left + inner.width}" y1="${y}" y2="${y}"/>`,
    ...scale.ticks.map(
      (tick) =>
        `<text x="${placeX(scale.at(tick))}" y="${y + 20}" text-anchor="middle">${escaped(text(tick))}</text>`,
    ),
  ];
}

function placeX(share: number): number {
  return round(box.left + share * inner.width);
}

function placeY(share: number): number {
  return round(box.top + (1 - share) * inner.height);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function number(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
