/**
 * Restate: its server takes the webhooks (`/send`), keeps a durable log, and calls the handler in a process of its own, which
 * `restate-handler.ts` is. Its own settings.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "./redis.ts";

export interface Restate {
  /** POST it: each is answered with 202 when it is durable. */
  url: string;
  /** GET it: the latencies since the last call. */
  latenciesUrl: string;
  stop(): Promise<void>;
}

const program = fileURLToPath(
  new URL(
    `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
    import.meta.url,
  ),
);

export function hasRestate(): boolean {
  return existsSync(program);
}

export async function startRestate(): Promise<Restate> {
  const folder = mkdtempSync(join(tmpdir(), "svc-restate-"));
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  const server = spawn(program, ["--base-dir", folder, "--no-logo", "--listen-mode", "tcp"], {
    env: {
      ...process.env,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
      RESTATE_DISABLE_TELEMETRY: "true",
      RUST_LOG: "off",
    },
    stdio: "ignore",
  });
  const handler = spawn(process.execPath, [fileURLToPath(new URL("restate-handler.ts", import.meta.url))], {
    env: { ...process.env, RESTATE_LOGGING: "ERROR" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  process.once("exit", () => server.kill("SIGKILL"));
  // The library prints messages of its own.
  let line = "";
  for await (line of createInterface(handler.stdout)) if (line.startsWith("{")) break;
  const { port, latenciesUrl } = JSON.parse(line) as { port: number; latenciesUrl: string };
  await register(`http://127.0.0.1:${admin}/deployments`, `http://127.0.0.1:${port}`);
  return {
    url: `http://127.0.0.1:${ingress}/bench/job/send`,
    latenciesUrl,
    async stop() {
      handler.kill("SIGKILL");
      const exited = once(server, "exit");
      server.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server takes a second or two until it answers. */
async function register(url: string, uri: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      const body = JSON.stringify({ uri });
      const headers = { "content-type": "application/json" };
      const response = await fetch(url, { method: "POST", headers, body });
      if (response.ok) return;
      throw new Error(`Restate answered ${response.status}: ${await response.text()}`);
    } catch (error) {
      if (attempt === 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
