/** Processor time of processes, from Linux's `/proc`. */
import { readdirSync, readFileSync } from "node:fs";

/** Milliseconds in one tick of `/proc/<pid>/stat`. */
const tickMs = 10;

interface Stat {
  parent: number;
  /** Its own time and that of its children that have ended. */
  ms: number;
}

function statOf(pid: number): Stat | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), ms: ticks * tickMs };
  } catch {
    return null;
  }
}

/** @returns the time of a process, and that of all its living descendants */
export function processorTime(pid: number): { own: number; descendants: number } {
  const stats = new Map<number, Stat>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null;
    if (stat !== null) stats.set(Number(name), stat);
  }
  const isBelow = (child: number): boolean => {
    const parent = stats.get(child)?.parent;
    return parent !== undefined && (parent === pid || isBelow(parent));
  };
  let descendants = 0;
  for (const [child, { ms }] of stats) if (child !== pid && isBelow(child)) descendants += ms;
  return { own: stats.get(pid)?.ms ?? 0, descendants };
}

/** The first process of the server that has this port among its arguments. */
export function postmaster(port: number): number {
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [program = "", ...args] = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      if (program.endsWith("/postgres") && args.includes(`port=${port}`)) return Number(name);
    } catch {
      // The process has ended.
    }
  }
  throw new Error(`No PostgreSQL server has port ${port}.`);
}
