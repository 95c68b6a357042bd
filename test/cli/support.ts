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
import { bareEnvironment, bin, commandOf, type Runtime, root } from "../support/runtimes.ts";
import type { HostedCommand, HostedResult } from "./command-host.ts";
import type { Outcome, Scene } from "./pty.ts";

/** Every command as a person types it, for example `executions list`. */
export function leaves(table: Readonly<Record<string, Leaf | Group>> = commands, path = ""): string[] {
  return Object.entries(table).flatMap(([name, entry]) =>
    "load" in entry ? [path + name] : leaves(entry.commands, `${path}${name} `),
  );
}

/** The script that users start. */
export const launcher: string = join(root, "cli/launcher.js");

export interface Result {
  /** Null when a signal ended the process. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Options {
  cwd?: string;
  /** On top of an environment without any of the command's own variables. */
  env?: Readonly<Record<string, string>>;
  /** Standard input; empty when not given. */
  input?: string | Uint8Array;
  /** Called with each piece of standard output and standard error, and the process: to wait for an event. */
  onOutput?: (all: Result, kill: (signal: NodeJS.Signals) => void) => void;
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
  const child = spawn(program, [...before, launcher, "serve", "--port", port, "--data", dataDir], {
    cwd: tmpdir(),
    env: { ...bareEnvironment(), SVC_API_KEY: key },
    stdio: ["ignore", "pipe", "pipe"],
  });
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

/** Runs `svc` as a process of its own, as a user would, and returns what it printed. */
export function svc(runtime: Runtime, args: readonly string[], options: Options = {}): Promise<Result> {
  const [program, ...before] = commandOf(runtime);
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...before, launcher, ...args], {
      cwd: options.cwd ?? tmpdir(),
      env: { ...bareEnvironment(), ...options.env },
    });
    const result: Result = { code: null, stdout: "", stderr: "" };
    const take = (stream: "stdout" | "stderr") => (chunk: string) => {
      result[stream] += chunk;
      options.onOutput?.(result, (signal) => child.kill(signal));
    };
    child.stdout.setEncoding("utf8").on("data", take("stdout"));
    child.stderr.setEncoding("utf8").on("data", take("stderr"));
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...result, code }));
    // A command that does not read its input may be gone before this is written.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
  });
}

/**
 * Runs a command for a test that does not depend on its process. `npm test` runs such commands in one process for each test
 * file, and `npm run test:runtimes` each in its own. Commands that are waited for by their output, that stay, or that begin
 * while another runs have their own process in any case.
 */
export function command(runtime: Runtime, args: readonly string[], options: Options = {}): Promise<Result> {
  const stays = ["serve", "dev", "test", "mcp", "admin"].includes(args[0] ?? "");
  if (process.env.ALL_RUNTIMES !== undefined || stays || options.onOutput !== undefined || isHostBusy)
    return svc(runtime, args, options);
  return hosted(runtime, {
    args,
    cwd: options.cwd ?? tmpdir(),
    env: { ...bareEnvironment(), ...options.env },
    input: Buffer.from(options.input ?? "").toString("base64"),
  });
}

const hosts = new Map<Runtime, ChildProcess>();
let isHostBusy = false;

async function hosted(runtime: Runtime, message: HostedCommand): Promise<Result> {
  isHostBusy = true;
  try {
    const host = hosts.get(runtime) ?? startHost(runtime);
    hosts.set(runtime, host);
    const ended = new AbortController();
    const failed = once(host, "exit", ended).then(([code]) => {
      hosts.delete(runtime);
      throw new Error(`The process of the commands ended with ${code} in \`svc ${message.args.join(" ")}\`.`);
    });
    const answered = once(host, "message", ended) as Promise<[HostedResult]>;
    host.send(message);
    const [result] = await Promise.race([answered, failed]);
    answered.catch(() => {});
    failed.catch(() => {});
    ended.abort();
    return result;
  } finally {
    isHostBusy = false;
  }
}

function startHost(runtime: Runtime): ChildProcess {
  const [program, ...before] = commandOf(runtime);
  const child = spawn(program, [...before, join(root, "test/cli/command-host.ts")], {
    cwd: tmpdir(),
    env: bareEnvironment(),
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}

/** Runs `svc` on a terminal, where somebody types. */
export async function svcOnTerminal(
  runtime: Runtime,
  args: readonly string[],
  options: Options & { columns?: number; script?: Scene["script"] },
): Promise<Outcome> {
  const scene: Scene = {
    command: [...commandOf(runtime), launcher, ...args],
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
