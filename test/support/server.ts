/**
 * Runs `svc serve` as a process, on a free port and with its own data folder.
 *
 * States: *new*, *running* from `start` until the process exits, *stopped*. `start` restarts a stopped server with the
 * same data. `discard` stops the server and removes the data.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../server/store/engine.ts";
import { openSqlite } from "../../server/store/sqlite/index.ts";
import { launcherOf } from "./built-launcher.ts";
import type { TestDatabase } from "./postgres/databases.ts";
import { bareEnvironment, commandOf, type Runtime, root } from "./runtimes.ts";

export interface ServerOptions {
  /** Variables to add to `bareEnvironment()`. */
  env?: Readonly<Record<string, string>>;
  /** Default: 0, a free port. May change between starts. */
  port?: () => number;
  /** A program and its arguments that start the server, with the command as further arguments. Must keep the process id. */
  within?: readonly string[];
  /** Arguments to append to `serve --port PORT --data DIR`. */
  args?: readonly string[];
  /** Default: a new folder, which `discard` removes. */
  dataDir?: string;
  /** Several servers use the data folder. */
  shared?: boolean;
  /**
   * `"postgres and s3"` gives the server a database of its own, and keeps its packages in S3; `"embedded"` uses the data
   * folder only. Default: that of the run.
   */
  stores?: "postgres and s3" | "embedded";
  /** Default: that of {@link launcherOf}. */
  launcher?: string;
}

export interface Exit {
  /** Null when a signal ended the process. */
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** With `TEST_STORE=postgres`, each server has a database of its own instead of a store in its data folder. */
export const onPostgres: boolean = process.env.TEST_STORE === "postgres";
/** With `TEST_STORAGE=s3`, each server keeps its packages in S3 instead of its data folder. */
export const onS3: boolean = process.env.TEST_STORAGE === "s3";

/** Kills the servers that still run when the test process exits. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export class TestServer {
  readonly runtime: Runtime;
  readonly dataDir: string;
  readonly #options: ServerOptions;
  readonly #waiting = new Set<() => void>();
  #child: ChildProcess | null = null;
  #starting = false;
  #exited: Promise<Exit> = Promise.resolve({ code: null, signal: null });
  #url = "";
  #apiKey: string;
  #output = "";
  #database: TestDatabase | null = null;

  constructor(runtime: Runtime, options: ServerOptions = {}) {
    this.runtime = runtime;
    this.dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), `svc-${runtime}-`));
    this.#options = options;
    this.#apiKey = options.env?.SVC_API_KEY ?? "";
  }

  /** For example `http://127.0.0.1:40001`. The port changes at each start. */
  get url(): string {
    return this.#url;
  }

  /** The first key, from the environment or from the output of the first start. */
  get apiKey(): string {
    return this.#apiKey;
  }

  /** Standard output and standard error since the first start. */
  get output(): string {
    return this.#output;
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error("The server is not running.");
    return this.#child.pid;
  }

  /** Resolves when `/readyz` returns 200. */
  async start(): Promise<void> {
    const [program = "", ...args] = [...(this.#options.within ?? []), ...commandOf(this.runtime)];
    // `printed` may be called before the process exists.
    this.#starting = true;
    const [stores, launcher] = await Promise.all([
      this.#stores(),
      this.#options.launcher ?? launcherOf(this.runtime),
    ]).finally(() => {
      this.#starting = false;
    });
    const child = spawn(
      program,
      [
        ...args,
        ...(this.#options.shared ? [join(root, "test/support/shared-server.ts")] : [launcher, "serve"]),
        "--port",
        String(this.#options.port?.() ?? 0),
        "--data",
        this.dataDir,
        ...(this.#options.args ?? []),
      ],
      {
        cwd: tmpdir(),
        env: { ...bareEnvironment(), ...stores, ...this.#options.env },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#child = child;
    running.add(child);
    const before = this.#output.length;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
        for (const look of [...this.#waiting]) look();
      });
    }
    this.#exited = new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => {
        running.delete(child);
        if (this.#child === child) this.#child = null;
        resolve({ code, signal });
        for (const look of [...this.#waiting]) look();
      });
    });
    const [, url = ""] = await this.printed(/Listening on ([^\s"]+)/, before);
    this.#url = url;
    if (this.#apiKey === "") [, this.#apiKey = ""] = await this.printed(/export SVC_API_KEY=(\S+)/);
    const { status } = await fetch(`${url}/readyz`);
    if (status !== 200) throw new Error(`/readyz returned ${status} after the server was listening.`);
  }

  /** Resolves when the output from offset `from` matches. @throws Error when the server exits first */
  printed(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this.#output.slice(from));
        if (match === null && (this.#child !== null || this.#starting)) return;
        this.#waiting.delete(look);
        if (match !== null) resolve(match);
        else reject(new Error(`The server ended without printing ${pattern}:\n${this.#output.slice(from)}`));
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Opens a handle on the store of the server, as another process does. */
  async openStore(): Promise<Engine> {
    if (this.#database === null) return openSqlite(this.dataDir);
    const { openPostgres } = await import("../../server/store/postgres/index.ts");
    return openPostgres({ url: this.#database.url });
  }

  /** The engine of the store. */
  get engine(): "sqlite" | "postgres" {
    return this.#database === null ? "sqlite" : "postgres";
  }

  /** Sends a signal and waits until the process has exited. */
  async kill(signal: NodeJS.Signals): Promise<Exit> {
    this.#child?.kill(signal);
    return this.#exited;
  }

  /** Stops the server with a signal and restarts it with the same data. */
  async restart(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.kill(signal);
    await this.start();
  }

  /** Stops the server and removes its data, unless a test has failed. */
  async discard(failed: boolean): Promise<void> {
    await this.kill("SIGKILL");
    await this.#database?.drop();
    if (failed)
      console.error(`The data of the server on ${this.runtime} is in ${this.dataDir}\n${this.#output}`);
    else rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** The variables of the database and the storage, which are created at the first start. */
  async #stores(): Promise<Record<string, string>> {
    const { env, shared, stores } = this.#options;
    const found: Record<string, string> = {};
    if (stores === "embedded") return found;
    if ((onPostgres && !shared && env?.SVC_DATABASE_URL === undefined) || stores !== undefined) {
      const { createDatabase } = await import("./postgres/databases.ts");
      this.#database ??= await createDatabase();
      found.SVC_DATABASE_URL = this.#database.url;
    }
    if (onS3 || stores !== undefined) {
      const { storageEnv } = await import("./s3.ts");
      Object.assign(found, await storageEnv(this.dataDir));
    }
    return found;
  }
}
