/**
 * A problem in a file. Lines and columns count from 1, and columns count UTF-16 code units, as in editors. Line 0 means
 * the whole file.
 */
export interface Problem {
  line: number;
  column: number;
  message: string;
  /** The line with the problem, without its line ending; empty when the file is not text. */
  source: string;
}

/** The largest number of problems reported for one file. */
export const maxProblems = 100;

/**
 * `file:LINE:COLUMN: message`, followed by the line with a mark under the column, or `file: message` for a whole file.
 * Control characters are replaced by `�`, so that a file cannot control the terminal. Long lines are cut around the
 * column.
 */
export function formatProblem(file: string, problem: Problem): string {
  if (problem.line === 0) return `${printable(file)}: ${problem.message}`;
  const heading = `${printable(file)}:${problem.line}:${problem.column}: ${problem.message}`;
  if (problem.source === "") return heading;
  const shownColumns = 100;
  const from = Math.max(0, Math.min(problem.column - 1, problem.source.length) - shownColumns / 2);
  const shown = printable(problem.source.slice(from, from + shownColumns));
  const gutter = String(problem.line);
  const mark = `${" ".repeat(problem.column - 1 - from)}^`;
  return `${heading}\n  ${gutter} | ${shown}\n  ${" ".repeat(gutter.length)} | ${mark}`;
}

/** A value quoted for a message: as JSON, cut to 60 characters, without control characters. */
export function quoted(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : String(value);
  return printable(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}

/** Replaces control characters, so that untrusted text cannot control a terminal. */
export function printable(text: string): string {
  return text.replace(/\t/g, " ").replace(/[\p{Cc}\p{Bidi_Control}]/gu, "\ufffd");
}
