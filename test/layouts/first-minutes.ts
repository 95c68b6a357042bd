/**
 * The first minutes of a newcomer on each runtime, by the README, from the packed package: `npm run test:first-minutes`.
 * Prints the time of each step. Downloads come from a registry on loopback.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Runtime, runtimes } from "../support/runtimes.ts";
import { TestServer } from "../support/server.ts";
import { openEnvironment } from "./environment.ts";

const { positionals } = parseArgs({ allowPositionals: true });
const chosen = runtimes.filter((runtime) => positionals.length === 0 || positionals.includes(runtime));

const commands: Record<Runtime, { init: string; install: string; test: string; svc: string }> = {
  node: { init: "npx --yes svc-agents", install: "npm install", test: "npm test", svc: "npx svc" },
  bun: { init: "bunx --bun svc-agents", install: "bun install", test: "bun run test", svc: "bunx --bun svc" },
  deno: {
    init: "deno run -A npm:svc-agents",
    install: "deno install",
    test: "deno task test",
    svc: "deno task --quiet svc",
  },
};

/** Runs a command until it ends, and returns the text after an event in its output. */
class Background {
  readonly #child: ChildProcess;
  #output = "";
  readonly #listeners = new Set<() => void>();

  constructor(line: string, cwd: string, env: Record<string, string>) {
    this.#child = spawn("sh", ["-c", `exec ${line}`], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
        for (const listener of this.#listeners) listener();
      });
    }
  }

  /** Waits until the output matches, from an offset. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const ended = once(this.#child, "exit").then(() => {
      throw new Error(`The command ended before ${pattern}:\n${this.#output}`);
    });
    const found = new Promise<RegExpExecArray>((resolve) => {
      const check = (): void => {
        const match = pattern.exec(this.#output);
        if (match === null) return;
        this.#listeners.delete(check);
        this.#output = this.#output.slice(match.index + match[0].length);
        resolve(match);
      };
      this.#listeners.add(check);
      check();
    });
    return Promise.race([found, ended]);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.pid === undefined) return;
    const exited = once(this.#child, "close");
    process.kill(-this.#child.pid, "SIGINT");
    await exited;
  }
}

await using environment = await openEnvironment();
const server = new TestServer("node", {});
await server.start();
for (const runtime of chosen) {
  const { init, install, test, svc } = commands[runtime];
  const cwd = join(environment.folder, runtime);
  const env = environment.variables(runtime);
  const times: [step: string, tookMs: number][] = [];
  const step = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const startedAt = performance.now();
    const result = await work();
    times.push([name, Math.round(performance.now() - startedAt)]);
    return result;
  };
  const run = (name: string, line: string, folder = cwd): Promise<string> =>
    step(name, async () => {
      const { code, output } = await environment.shell(runtime, line, folder);
      if (code !== 0) throw new Error(`${line} exited with ${code}:\n${output}`);
      return output;
    });
  await run("init", `${init} init ${runtime}`, environment.folder);
  await run("install", install);
  await run("test", test);
  const dev = new Background(`${svc} dev --port 0`, cwd, env);
  try {
    const [, url = ""] = await step("dev: deployed", async () => {
      const webhook = await dev.until(/(http:\S+\/webhook\/\S+)/);
      await dev.until(/deployed/);
      return webhook;
    });
    const body = '{"issue":{"title":"Crash on start"}}';
    await run(
      "webhook by curl",
      `curl -sf -H "Content-Type: application/json" -H "Prefer: wait=30" -d '${body}' ${url}`,
    );
    await step("change on save", async () => {
      const file = join(cwd, "agents/triage.ts");
      writeFileSync(file, readFileSync(file, "utf8").replace('"question"', '"other"'));
      await dev.until(/deployed/);
    });
  } finally {
    await dev.stop();
  }
  const service = `SVC_API_KEY=${server.apiKey} SVC_BASE_URL=${server.url}/env/${runtime}`;
  await run("push", `${service} ${svc} push --yes`);
  await run("run", `${service} ${svc} run triage --data samples/triage.json`);
  const totalMs = times.reduce((sum, [, tookMs]) => sum + tookMs, 0);
  console.log(
    `${runtime}: ${times.map(([name, tookMs]) => `${name} ${seconds(tookMs)}`).join(", ")}; together ${seconds(totalMs)}`,
  );
  if (totalMs > 60_000) process.exitCode = 1;
}
await server.discard(false);
rmSync(environment.folder, { recursive: true });

function seconds(tookMs: number): string {
  return `${(tookMs / 1000).toFixed(1)} s`;
}
