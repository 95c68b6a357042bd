/** Draws the tree of an execution: its child executions and failed attempts in the order of time. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Attempt, Execution } from "../../proto/svc/v1/execution_pb.ts";
import { dateOf, elapsedMs } from "../api/timestamps.ts";
import { stdoutColors as colors } from "../terminal/colors.ts";
import { duration } from "../terminal/format.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import type { Cell } from "../terminal/table.ts";
import { shorten, widthOf } from "../terminal/width.ts";
import { columnsOf } from "../terminal/wrap.ts";
import { statusCell } from "./status.ts";

/** One line of the tree. */
interface Row {
  /** The lines of the tree before the label, and below it on further lines. */
  stem: string;
  below: string;
  label: Cell;
  status: Cell;
  took: string;
  /** The ID of an execution, which is never cut, or the error of an attempt. */
  end: { text: string; isId: boolean };
}

const branch = { stem: "├─ ", below: "│  " };
const lastBranch = { stem: "└─ ", below: "   " };
const gap = 2;
const minLabelWidth = 12;
/** Characters of an error that a terminal shows at least. */
const minErrorWidth = 16;

/**
 * The tree of an execution with `descendants`; an empty string when it has no child executions.
 *
 * @param indentation - columns that the caller puts before each line
 */
export function executionTree(
  root: Execution,
  indentation = 0,
  terminalWidth: number = columnsOf(process.stdout),
): string {
  if (root.childCount === 0) return "";
  const children = Map.groupBy(root.descendants, (execution) => execution.parentExecutionId);
  const rows = [...rowsOf(root, { stem: "", below: "" }, children)];
  return layOut(rows, terminalWidth - indentation).join("\n");
}

function* rowsOf(
  execution: Execution,
  { stem, below }: { stem: string; below: string },
  children: ReadonlyMap<string, Execution[]>,
): Generator<Row> {
  const { executionId, name, status, startedAt, finishedAt, childCount } = execution;
  const tookMs = elapsedMs(startedAt, finishedAt);
  yield {
    stem,
    below,
    label: name,
    status: statusCell(status),
    took: tookMs === null ? "" : duration(tookMs),
    end: { text: executionId, isId: true },
  };
  const shown = children.get(executionId) ?? [];
  // An attempt is listed by its end: after the child executions that it started.
  const entries = [
    ...shown.map((child) => ({ at: child.createdAt, child, attempt: undefined })),
    ...execution.attempts.map((attempt) => ({ at: attempt.finishedAt, attempt, child: undefined })),
  ].toSorted((a, b) => msOf(a.at) - msOf(b.at));
  const omitted = childCount - shown.length;
  for (const [index, { child, attempt }] of entries.entries()) {
    const isLast = index === entries.length - 1 && omitted === 0;
    const line = isLast ? lastBranch : branch;
    const place = { stem: below + line.stem, below: below + line.below };
    if (child !== undefined) yield* rowsOf(child, place, children);
    else if (attempt !== undefined) yield attemptRow(attempt, place);
  }
  if (omitted > 0) {
    const more = shown.length === 0 ? "" : " more";
    const noun = omitted === 1 ? "child execution" : "child executions";
    const label = { text: `… ${omitted}${more} ${noun}`, paint: colors.dim };
    const place = { stem: below + lastBranch.stem, below: below + lastBranch.below };
    yield { ...place, label, status: "", took: "", end: { text: "", isId: false } };
  }
}

function attemptRow(
  { attempt, startedAt, finishedAt, error }: Attempt,
  place: { stem: string; below: string },
): Row {
  const tookMs = elapsedMs(startedAt, finishedAt);
  return {
    ...place,
    label: { text: `attempt ${attempt}`, paint: colors.dim },
    status: statusCell("failed"),
    took: tookMs === null ? "" : duration(tookMs),
    end: { text: error === undefined ? "" : `${error.name}: ${error.message}`, isId: false },
  };
}

function msOf(time: Timestamp | undefined): number {
  return dateOf(time)?.getTime() ?? 0;
}

/** Labels, states, durations and IDs in columns. IDs that do not fit go to lines of their own. */
function layOut(rows: readonly Row[], width: number): string[] {
  // A line about omitted executions has no other columns.
  const listed = rows.filter(({ status }) => status !== "");
  const labelWidth = Math.max(...listed.map(({ stem, label }) => stem.length + widthOf(textOf(label))));
  const statusWidth = Math.max(...listed.map(({ status }) => textOf(status).length));
  const tookWidth = Math.max(...listed.map(({ took }) => took.length));
  const idWidth = Math.max(...rows.map(({ end }) => (end.isId ? end.text.length : 0)));
  const fixed = statusWidth + tookWidth + 2 * gap;
  const inLine = labelWidth + fixed + gap + idWidth <= width;
  const room = Math.max(minLabelWidth, Math.min(labelWidth, width - fixed - (inLine ? gap + idWidth : 0)));
  return rows.flatMap((row) => {
    const { stem, below, label, status, took, end } = row;
    if (status === "") return [colors.dim(stem) + painted(label, textOf(label))];
    const text = shorten(textOf(label), Math.max(1, room - stem.length));
    const state = textOf(status);
    const line = [
      colors.dim(stem) + painted(label, text) + " ".repeat(Math.max(0, room - stem.length - widthOf(text))),
      painted(status, state) + " ".repeat(statusWidth - state.length),
      took.padStart(tookWidth),
    ].join(" ".repeat(gap));
    const used = room + fixed + gap;
    const paintEnd = end.isId ? colors.dim : colors.red;
    if (end.isId ? inLine : width - used >= minErrorWidth) {
      const shown = end.isId ? end.text : shortenEnd(sanitizeLine(end.text), width - used);
      return [`${line}${" ".repeat(gap)}${paintEnd(shown)}`.trimEnd()];
    }
    if (end.text === "") return [line.trimEnd()];
    const shown = end.isId ? end.text : shortenEnd(sanitizeLine(end.text), width - below.length - gap);
    return [line.trimEnd(), `${colors.dim(below)}${" ".repeat(gap)}${paintEnd(shown)}`];
  });
}

/** The beginning of an error says the most. */
function shortenEnd(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return `${text.slice(0, Math.max(1, Math.min(text.length, width) - 1)).trimEnd()}…`;
}

function textOf(cell: Cell): string {
  return sanitizeLine(typeof cell === "string" ? cell : cell.text);
}

function painted(cell: Cell, text: string): string {
  return typeof cell === "object" && text !== "" ? cell.paint(text) : text;
}
