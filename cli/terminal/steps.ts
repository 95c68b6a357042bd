import { type Colors, stderrColors } from "./colors.ts";
import { gap } from "./columns.ts";
import { columnsOf } from "./wrap.ts";

/** A command line and its purpose, which may be empty. */
export type Step = readonly [line: string, purpose: string];

const margin = 2;

/**
 * Formats command lines with their purposes in a second column, for standard error. On a terminal that is too narrow, the
 * purposes are comments above the lines, so that each command can be copied.
 */
export function stepLines(
  steps: readonly Step[],
  terminalWidth: number = columnsOf(process.stderr),
  { dim }: Pick<Colors, "dim"> = stderrColors,
): string[] {
  const width = Math.max(0, ...steps.map(([line]) => line.length)) + gap;
  const fits = steps.every(([, purpose]) => margin + width + purpose.length <= terminalWidth);
  return steps.flatMap(([line, purpose]) => {
    if (purpose === "") return [line];
    return fits ? [line.padEnd(width) + dim(purpose)] : [dim(`# ${purpose}`), line];
  });
}

/** The block at the end of a command. */
export function nextStepsText(steps: readonly Step[]): string {
  const lines = stepLines(steps).map((line) => " ".repeat(margin) + line);
  return `\nNext steps:\n${lines.join("\n")}`;
}
