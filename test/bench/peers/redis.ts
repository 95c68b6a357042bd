/** A Redis server of its own, on a free port, that syncs its log before each answer. */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

export interface Redis {
  /** Removes all data. @returns the URL */
  empty(): Promise<string>;
  stop(): Promise<void>;
}

/** Whether there is a `redis-server` on the path. */
export function hasRedis(): boolean {
  return spawnSync("redis-server", ["--version"]).status === 0;
}

export async function startRedis(): Promise<Redis> {
  const folder = mkdtempSync(join(tmpdir(), "svc-redis-"));
  const port = await freePort();
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder];
  args.push(
    "--appendonly",
    "yes",
    "--appendfsync",
    "always",
    "--save",
    "",
    "--maxmemory-policy",
    "noeviction",
  );
  const child: ChildProcess = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
  if (child.stdout === null) throw new Error("Redis has no output.");
  for await (const line of createInterface(child.stdout)) if (/Ready to accept/.test(line)) break;
  child.stdout.resume();
  return {
    async empty() {
      await promisify(execFile)("redis-cli", ["-p", String(port), "FLUSHALL"]);
      return `redis://127.0.0.1:${port}`;
    },
    async stop() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("No port is free.");
  return address.port;
}
