/**
 * Kills the runners of a server that has died, whatever they are doing. One POSIX shell per server reads the process
 * groups to kill from its standard input, and the end of file tells it that the server has ended.
 *
 * Rejected: a thread in each runner, because a runtime that may start threads lets users' code start them too, and a check
 * in the runner's event loop, because users' code can block it. Inside bubblewrap `--die-with-parent` does this.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { log } from "../../telemetry/log/index.ts";

const script = `
groups=' '
while read -r operation group; do
  case $operation in
    add) groups="$groups$group " ;;
    remove) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -9 "-$group" 2>/dev/null; done
`;

const groups = new Set<number>();
let shell: ChildProcess | undefined;

/** Has the group killed when this process ends. */
export function watchGroup(group: number): void {
  groups.add(group);
  if (shell === undefined) startShell();
  else send(`add ${group}`);
}

export function unwatchGroup(group: number): void {
  if (groups.delete(group)) send(`remove ${group}`);
}

function startShell(): void {
  const started = spawn("/bin/sh", ["-c", script], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    env: {},
  });
  shell = started;
  // A shell that ended early is replaced: its groups would otherwise outlive the server.
  const onEnd = (): void => {
    if (shell !== started) return;
    shell = undefined;
    if (groups.size > 0) startShell();
  };
  started.once("exit", onEnd);
  started.once("error", (error) => {
    log.error("Cannot start the watchdog, so that runners may outlive a killed server", {
      reason: error.message,
    });
  });
  started.stdin?.on("error", () => {});
  // The watchdog must not keep a process alive whose runners have ended.
  started.unref();
  (started.stdin as { unref?(): void } | null)?.unref?.();
  for (const group of groups) send(`add ${group}`);
}

function send(line: string): void {
  shell?.stdin?.write(`${line}\n`);
}
