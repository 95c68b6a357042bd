/**
 * One mistake in a file. Lines and columns count from 1; a column counts UTF-16 code units, as editors do. Line 0 stands
 * for the file as a whole.
 */
export interface Problem {
  line: number;
  column: number;
  message: string;
  /** The offending line, without its end; empty when the file cannot be read as text. */
  source: string;
}

/** How many problems of one file are reported; the rest is counted in one line. */
export const maxProblems = 100;

/**
 * `file:LINE:COLUMN: message`, or `file: message` for a file as a whole, then the offending line with a mark under the column. Control characters of the line
 * are shown as `�`, so that a file cannot write to a terminal; long lines are cut around the column.
 */
export function formatProblem(file: string, problem: Problem): string {
  if (problem.line === 0) return `${printable(file)}: ${problem.message}`;
  const head = `${printable(file)}:${problem.line}:${problem.column}: ${problem.message}`;
  if (problem.source === "") return head;
  const shownColumns = 100;
  const from = Math.max(0, Math.min(problem.column - 1, problem.source.length) - shownColumns / 2);
  const shown = printable(problem.source.slice(from, from + shownColumns));
  const gutter = String(problem.line);
  const mark = `${" ".repeat(problem.column - 1 - from)}^`;
  return `${head}\n  ${gutter} | ${shown}\n  ${" ".repeat(gutter.length)} | ${mark}`;
}

/** A value as it is quoted in a message: as JSON, cut to 60 characters, without control characters. */
export function quoted(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : String(value);
  return printable(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}

function printable(text: string): string {
  return text.replace(/\t/g, " ").replace(/[\p{Cc}\p{Bidi_Control}]/gu, "\ufffd");
}
