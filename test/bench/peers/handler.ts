/** The handler of all peers: takes the time of its first line. In this process, or in a child process over IPC. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Handler, Payload } from "./queue.ts";

/** Milliseconds from the trigger to the first line. */
export function sinceTrigger({ t }: Payload): number {
  return performance.timeOrigin + performance.now() - Number(t) / 1000;
}

/** @param started - gets the latency of each job */
export function inProcess(started: (ms: number) => void): Handler {
  return async (payload) => started(sinceTrigger(payload));
}

/** @param started - gets the latency of each job, measured in the child */
export async function inChild(started: (ms: number) => void): Promise<Handler> {
  const child: ChildProcess = fork(fileURLToPath(new URL("handler-child.ts", import.meta.url)));
  await once(child, "message");
  const waiting = new Map<number, () => void>();
  let last = 0;
  child.on("message", ({ id, ms }: { id: number; ms: number }) => {
    started(ms);
    waiting.get(id)?.();
    waiting.delete(id);
  });
  return (payload) =>
    new Promise((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      child.send({ id, payload });
    });
}
