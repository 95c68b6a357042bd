import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { commands, type Group, type Leaf } from "../../cli/app/command-table.ts";
import { newProject } from "../../cli/project/templates/project.ts";
import { launcherOf } from "../support/built-launcher.ts";
import { bareEnvironment, bin, commandOf, type Runtime } from "../support/runtimes.ts";
import { command } from "./command.ts";
import { launcher, type Options, type Result, type svc } from "./process.ts";
import type { Outcome, Scene } from "./pty.ts";

export { launcher, type Options, type Result, svc } from "./process.ts";

/** Every command as a person types it, for example `executions list`. */
export function leaves(table: Readonly<Record<string, Leaf | Group>> = commands, path = ""): string[] {
  return Object.entries(table).flatMap(([name, entry]) =>
    "load" in entry ? [path + name] : leaves(entry.commands, `${path}${name} `),
  );
}

/** A running `svc serve`. */
export interface Service {
  url: string;
  key: string;
  dataDir: string;
  /** The environment of the CLI. */
  env: { SVC_API_KEY: string; SVC_BASE_URL: string };
  /** Runs a command against it, on the same runtime. A string is cut at its spaces. */
  run(line: string | readonly string[], options?: Options): Promise<Result>;
  /** Runs a command with `--json`, which must succeed without messages, and returns its output. */
  json<T>(line: string, options?: Options): Promise<T>;
  /** Kills it, as a power failure would, and restarts it on the same port and data. */
  crash(): Promise<void>;
  /** Stops it with SIGTERM. @returns the exit code */
  stop(): Promise<number | null>;
}

/**
 * Runs a service for the tests of one `describe`, on the same runtime as the commands.
 *
 * @param execute - how the service runs commands; `svc` for a process each
 */
export function useService(runtime: Runtime, execute: typeof svc = command): Service {
  let started: Service | undefined;
  beforeAll(async () => {
    started = await startService(runtime, execute);
  });
  afterAll(async () => {
    // Ended by a signal it still ends well.
    expect(await started?.stop()).toBe(0);
  });
  return new Proxy({} as Service, {
    get: (_, property) => Reflect.get(started ?? {}, property),
  });
}

/** Starts `svc serve` on a free port with its own data folder. The caller stops it. */
async function startService(runtime: Runtime, execute: typeof svc): Promise<Service> {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-cli-data-"));
  const key = `svc_test_${randomBytes(16).toString("hex")}`;
  let { child, url } = await serve(runtime, dataDir, key, "0");
  const stop = async (signal: NodeJS.Signals): Promise<number | null> => {
    const isOver = child.exitCode !== null || child.signalCode !== null;
    child.kill(signal);
    if (!isOver) await once(child, "exit");
    return child.exitCode;
  };
  const env = { SVC_API_KEY: key, SVC_BASE_URL: url };
  const run: Service["run"] = (line, options = {}) =>
    execute(runtime, typeof line === "string" ? line.split(" ") : line, {
      ...options,
      env: { ...env, ...options.env },
    });
  return {
    url,
    key,
    dataDir,
    env,
    run,
    async json(line, options) {
      const { code, stdout, stderr } = await run(`${line} --json`, options);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout);
    },
    async crash() {
      await stop("SIGKILL");
      ({ child, url } = await serve(runtime, dataDir, key, new URL(url).port));
    },
    async stop() {
      const code = await stop("SIGTERM");
      await rm(dataDir, { recursive: true, force: true });
      return code;
    },
  };
}

async function serve(
  runtime: Runtime,
  dataDir: string,
  key: string,
  port: string,
): Promise<{ child: ChildProcess; url: string }> {
  const [program, ...before] = commandOf(runtime);
  const child = spawn(
    program,
    [...before, await launcherOf(runtime), "serve", "--port", port, "--data", dataDir],
    {
      cwd: tmpdir(),
      env: { ...bareEnvironment(), SVC_API_KEY: key },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    const take = (chunk: Buffer): void => {
      output += String(chunk);
      const found = /Listening on (http:\/\/\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on("data", take);
    // The service also logs errors there, which explain a failed start.
    child.stderr.on("data", take);
    child.once("exit", () => reject(new Error(`The service ended before it listened: ${output}`)));
  });
  return { child, url };
}

interface TerminalOptions extends Options {
  columns?: number;
  script?: Scene["script"];
}

/** Runs `svc` on a terminal, where somebody types. */
export function svcOnTerminal(
  runtime: Runtime,
  args: readonly string[],
  options: TerminalOptions,
): Promise<Outcome> {
  return onTerminal([...commandOf(runtime), launcher, ...args], options);
}

/** Runs a program on a terminal, where somebody types. */
export async function onTerminal(command: string[], options: TerminalOptions): Promise<Outcome> {
  const scene: Scene = {
    command,
    cwd: options.cwd ?? tmpdir(),
    env: { ...bareEnvironment(), TERM: "xterm-256color", ...options.env },
    columns: options.columns ?? 100,
    script: options.script ?? [],
  };
  const pty = fileURLToPath(new URL("pty.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(bin("bun"), [pty, JSON.stringify(scene)]);
  return JSON.parse(stdout);
}

/** The files of a new project with an agent and a workflow. */
export function newProjectFiles(folder: string): Record<string, string> {
  return newProject({ folder, template: "workflow", runtime: "node", svc: "npm:svc-agents@^0.1.0" });
}

/** A folder of the test's own, removed when the test has passed. Within a test only. */
export async function temporaryFolder(): Promise<string> {
  const folder = await newFolder();
  onTestFinished(async ({ task }) => {
    if (task.result?.state !== "fail") await rm(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A folder that its user removes. */
export function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "svc-cli-"));
}

/** Writes files, with the folders that they need. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** A folder with a project that has one agent of the project's name, with one webhook. */
export async function projectFolder(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder();
  await writeFiles(folder, { "svc-project.yaml": projectFile(name), ...files });
  return folder;
}

/** The project file of {@link projectFolder}. */
export function projectFile(name: string, more = ""): string {
  return `name: ${name}
version: "1.0"
agents:
  - name: ${name}
    webhooks:
      - slug: hook
        field_mapping:
          order.items[0].sku: sku
${more}`;
}
