import { out } from "../terminal/colors.ts";
import type { Cell } from "../terminal/table.ts";

const paints: Readonly<Record<string, (text: string) => string>> = {
  active: out.green,
  succeeded: out.green,
  ok: out.green,
  failed: out.red,
  degraded: out.red,
  running: out.yellow,
  paused: out.yellow,
  pending: out.yellow,
  queued: out.cyan,
};

/** The status of an execution, a deployment or the service, in its colour. */
export function statusCell(status: string): Exclude<Cell, string> {
  return { text: status, paint: (Object.hasOwn(paints, status) && paints[status]) || out.dim };
}

/** As {@link statusCell}, painted already. */
export function paintedStatus(status: string): string {
  return statusCell(status).paint(status);
}
