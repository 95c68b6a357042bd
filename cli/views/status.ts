import { stdoutColors as colors } from "../terminal/colors.ts";
import type { Cell } from "../terminal/table.ts";

const paints: Readonly<Record<string, (text: string) => string>> = {
  active: colors.green,
  succeeded: colors.green,
  accepted: colors.green,
  ok: colors.green,
  failed: colors.red,
  rejected: colors.red,
  degraded: colors.red,
  running: colors.yellow,
  paused: colors.yellow,
  pending: colors.yellow,
  queued: colors.cyan,
};

/** A status in its color, as a table cell. */
export function statusCell(status: string): Exclude<Cell, string> {
  return { text: status, paint: (Object.hasOwn(paints, status) && paints[status]) || colors.dim };
}

/** A status in its color. */
export function paintedStatus(status: string): string {
  return statusCell(status).paint(status);
}
