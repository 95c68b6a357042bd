/** svc and the peers behind one interface: each takes webhooks at a URL and executes them. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Taken } from "../peers/program.ts";
import { type Restate, startRestate } from "../peers/restate.ts";

export interface Contestant {
  name: string;
  start(): Promise<Running>;
}

export interface Running {
  /** Each POST is answered with 202 when it is durable. */
  url: string;
  /** Executions per second of a queue of `count` that waits, from the first start to the last end; null: has no such queue. */
  drain: ((count: number) => Promise<number>) | null;
  /** Waits until all webhooks have been executed. @returns milliseconds from each trigger to the handler's first line */
  take(count: number): Promise<number[]>;
  stop(): Promise<void>;
}

export type Kind = "bullmq" | "graphile" | "pg-boss";

/** @param createStore - creates an empty database and returns its URL */
export function peer(
  name: string,
  kind: Kind,
  where: "in-process" | "child",
  createStore: () => Promise<string>,
): Contestant {
  return {
    name,
    async start() {
      const program = fileURLToPath(new URL("../peers/program.ts", import.meta.url));
      const child: ChildProcess = spawn(process.execPath, [program, kind, where, await createStore()], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      if (child.stdout === null) throw new Error("The peer has no output.");
      const [url] = await Promise.race([
        once(createInterface(child.stdout), "line"),
        once(child, "exit").then(() => Promise.reject(new Error(`${name} did not start.`))),
      ]);
      const control = (action: string, count = 0) => controlAt(`${url}control`, { action, count });
      const drain = async (count: number): Promise<number> => {
        await control("stop");
        await control("fill", count);
        await control("work");
        const { latencies, tookMs } = (await control("take")) as Taken;
        assert.equal(latencies.length, count, `${name} must run each job once`);
        return count / (tookMs / 1000);
      };
      await control("work");
      return {
        url,
        drain,
        take: async () => ((await control("take")) as Taken).latencies,
        async stop() {
          const exited = once(child, "exit");
          child.kill("SIGKILL");
          await exited;
        },
      };
    },
  };
}

export const restate: Contestant = {
  name: "Restate",
  async start() {
    const running: Restate = await startRestate();
    const { url, latenciesUrl } = running;
    return {
      url,
      drain: null,
      async take(count) {
        const latencies: number[] = [];
        while (latencies.length < count) {
          latencies.push(...((await (await fetch(latenciesUrl)).json()) as number[]));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        return latencies;
      },
      stop: () => running.stop(),
    };
  },
};

async function controlAt(url: string, body: object): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`The peer answered ${response.status}: ${await response.text()}`);
  return response.json();
}
