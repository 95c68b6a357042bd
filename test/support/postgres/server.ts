/**
 * A PostgreSQL server of its own for tests, on a free port of the loopback interface.
 *
 * States: *stopped*, *running* from `start` until `stop`. `restart` keeps the data. A shell between this process and the
 * server stops the server and removes its files when this process ends for any reason.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Binaries, findBinaries } from "./binaries.ts";

/** Runs the server. When its pipe 3 closes with the end of this process, it ends the server and removes `$1`. */
const guard = `folder=$1; shift
"$@" & server=$!
(read -r _; kill -QUIT $server 2>/dev/null; sleep 1; rm -rf "$folder") <&3 & guard=$!
wait $server
kill $guard 2>/dev/null`;

const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "300",
  shared_buffers: "64MB",
  max_wal_size: "2GB",
  log_min_messages: "fatal",
  log_line_prefix: "%m ",
};

export class PostgresServer {
  readonly port: number;
  readonly #folder: string;
  readonly #binaries: Binaries;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #password = "s3cret/of the tests";
  #child: ChildProcess | null = null;
  #output = "";

  private constructor(
    binaries: Binaries,
    folder: string,
    port: number,
    extra: Readonly<Record<string, string>>,
  ) {
    this.#binaries = binaries;
    this.#folder = folder;
    this.port = port;
    this.#settings = { ...settings, ...extra };
  }

  /** Creates a cluster and starts it. */
  static async start(extra: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const binaries = findBinaries();
    const folder = mkdtempSync(join(tmpdir(), "svc-postgres-"));
    const { user } = binaries;
    if (user !== undefined) chownSync(folder, user.uid, user.gid);
    const server = new PostgresServer(binaries, folder, await freePort(), extra);
    server.#initialize();
    await server.start();
    return server;
  }

  /** The URL of a database. */
  url(database = "postgres"): string {
    return `postgres://svc:${encodeURIComponent(this.#password)}@127.0.0.1:${this.port}/${database}`;
  }

  get output(): string {
    return this.#output;
  }

  /** Starts a stopped server with its data; resolves when it accepts connections. */
  async start(): Promise<void> {
    const options = Object.entries({ ...this.#settings, port: String(this.port) });
    const flags = options.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const command = [this.#binaries.postgres, "-D", join(this.#folder, "data"), ...flags];
    const child = spawn("sh", ["-c", guard, "sh", this.#folder, ...command], {
      ...this.#binaries.user,
      cwd: this.#folder,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    this.#child = child;
    const before = this.#output.length;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
    }
    // The last line of the file says when the server accepts connections.
    const file = join(this.#folder, "data", "postmaster.pid");
    const deadline = Date.now() + 60_000;
    while (!/^ready\s*$/m.test(readOrEmpty(file))) {
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`PostgreSQL did not start:\n${this.#output.slice(before)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** `immediate` ends it as a crash does: without a checkpoint, and all connections at once. */
  async stop(mode: "fast" | "immediate" = "fast"): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    const exited = once(child, "exit");
    process.kill(
      this.#pid(join(this.#folder, "data", "postmaster.pid")),
      mode === "fast" ? "SIGINT" : "SIGQUIT",
    );
    await exited;
  }

  async restart(mode: "fast" | "immediate" = "fast"): Promise<void> {
    await this.stop(mode);
    // A server that was stopped at once leaves its file with the word `ready`.
    rmSync(join(this.#folder, "data", "postmaster.pid"), { force: true });
    await this.start();
  }

  /** Stops the server and removes its data. */
  async discard(): Promise<void> {
    await this.stop("immediate");
    rmSync(this.#folder, { recursive: true, force: true });
    if (this.#binaries.copy !== undefined) rmSync(this.#binaries.copy, { recursive: true, force: true });
  }

  #initialize(): void {
    const { initdb, user } = this.#binaries;
    const data = join(this.#folder, "data");
    const passwordFile = join(this.#folder, "password");
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(passwordFile, this.#password);
    if (user !== undefined) for (const path of [data, passwordFile]) chownSync(path, user.uid, user.gid);
    execFileSync(
      initdb,
      [
        "-D",
        data,
        "-U",
        "svc",
        `--pwfile=${passwordFile}`,
        "--auth=scram-sha-256",
        "-E",
        "UTF8",
        "--locale=C",
        "-N",
      ],
      { ...user, cwd: this.#folder, stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, TZ: "UTC" } },
    );
  }

  #pid(file: string): number {
    return Number(readOrEmpty(file).split("\n")[0]);
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("No port is free.");
  return address.port;
}
