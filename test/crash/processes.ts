/** The processes of a server, from procfs. */
import { readdirSync, readFileSync } from "node:fs";

interface Process {
  pid: number;
  parent: number;
  command: string;
}

/** The descendants of a process: the runners of a server. */
export function descendants(pid: number, all: readonly Process[] = processes()): number[] {
  return all.flatMap((one) => (one.parent === pid ? [one.pid, ...descendants(one.pid, all)] : []));
}

/** Runners that use a server's data folder and are not its descendants: their own server has ended. */
export function orphans(serverPid: number, dataDir: string): number[] {
  const all = processes();
  const own = new Set([serverPid, ...descendants(serverPid, all)]);
  return all.filter(({ pid, command }) => command.includes(dataDir) && !own.has(pid)).map(({ pid }) => pid);
}

function processes(): Process[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const [, parent] = readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8");
      return [{ pid: Number(name), parent: Number(parent), command }];
    } catch {
      // It has ended.
      return [];
    }
  });
}
