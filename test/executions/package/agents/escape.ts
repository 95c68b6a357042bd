/** Tries to get out. Returns for each attempt what it got, or `refused`. */
import cp from "node:child_process";
import fs from "node:fs";
import module from "node:module";
import os from "node:os";
import vm from "node:vm";
import workers from "node:worker_threads";

type Attempt = (target: Target) => unknown;

interface Target {
  /** A file of the server's. */
  secret: string;
  /** The server's process. */
  pid: number;
}

const builtin = (name: string): Record<string, never> =>
  process.getBuiltinModule(name) as unknown as Record<string, never>;

const reads: Record<string, Attempt> = {
  readFile: ({ secret }) => fs.readFileSync(secret, "utf8"),
  readFileAsync: ({ secret }) => fs.promises.readFile(secret, "utf8"),
  readFileBuffer: ({ secret }) => fs.readFileSync(Buffer.from(secret), "utf8"),
  readFileUrl: ({ secret }) => fs.readFileSync(new URL(`file://${secret}`), "utf8"),
  open: ({ secret }) => fs.openSync(secret, "r"),
  openAsBlob: async ({ secret }) => (await fs.openAsBlob(secret)).text(),
  stream: ({ secret }) =>
    new Promise((resolve, reject) => fs.createReadStream(secret).on("data", resolve).on("error", reject)),
  copyOut: ({ secret }) => {
    fs.copyFileSync(secret, "copy");
    return fs.readFileSync("copy", "utf8");
  },
  copyTree: ({ secret }) => {
    fs.cpSync(secret, "copied", { recursive: true });
    return fs.readFileSync("copied", "utf8");
  },
  rename: ({ secret }) => {
    fs.renameSync(secret, "renamed");
    return fs.readFileSync("renamed", "utf8");
  },
  hardLink: ({ secret }) => {
    fs.linkSync(secret, "hard");
    return fs.readFileSync("hard", "utf8");
  },
  symbolicLink: ({ secret }) => {
    fs.symlinkSync(secret, "soft");
    return fs.readFileSync("soft", "utf8");
  },
  relativeLink: () => {
    fs.symlinkSync("../../..", "up");
    return fs.readdirSync("up");
  },
  dotdot: () => fs.readdirSync(`${process.cwd()}/../..`),
  list: ({ secret }) => fs.readdirSync(secret.slice(0, secret.lastIndexOf("/"))),
  procEnvironment: ({ pid }) => fs.readFileSync(`/proc/${pid}/environ`, "utf8"),
  procRoot: ({ secret }) => fs.readFileSync(`/proc/self/root${secret}`, "utf8"),
  procCwd: () => fs.readdirSync("/proc/self/cwd/../.."),
  chdir: () => process.chdir("/"),
  importJson: async ({ secret }) => (await import(`${secret}.json`, { with: { type: "json" } })).default,
  requireJson: ({ secret }) => module.createRequire(import.meta.url)(`${secret}.json`),
  fetchFile: async ({ secret }) => (await fetch(`file://${secret}`)).text(),
  sqlite: ({ secret }) => {
    const { DatabaseSync } = builtin("node:sqlite");
    return new (DatabaseSync as new (path: string) => { prepare(sql: string): { get(): unknown } })(
      `${secret}.db`,
    )
      .prepare("SELECT * FROM secret")
      .get();
  },
  sqliteAttach: ({ secret }) => {
    const { DatabaseSync } = builtin("node:sqlite");
    const database = new (
      DatabaseSync as new (
        path: string,
      ) => { exec(sql: string): void; prepare(sql: string): { get(): unknown } }
    )(":memory:");
    database.exec(`ATTACH '${secret}.db' AS other`);
    return database.prepare("SELECT * FROM other.secret").get();
  },
};

const writes: Record<string, Attempt> = {
  overwrite: ({ secret }) => fs.writeFileSync(secret, "overwritten"),
  append: ({ secret }) => fs.appendFileSync(secret, "appended"),
  remove: ({ secret }) => fs.rmSync(secret),
  truncate: ({ secret }) => fs.truncateSync(secret),
  chmod: ({ secret }) => fs.chmodSync(secret, 0o777),
  newFile: ({ secret }) => fs.writeFileSync(`${secret}.new`, "new"),
  ownPackage: () => fs.writeFileSync(new URL("./added.ts", import.meta.url), "added"),
  providedModules: () => fs.appendFileSync(new URL("../node_modules/svc/package.json", import.meta.url), " "),
  heapSnapshot: ({ secret }) =>
    (builtin("node:v8").writeHeapSnapshot as (path: string) => string)(`${secret}.heap`),
};

const processes: Record<string, Attempt> = {
  exec: () => cp.execSync("echo started").toString(),
  spawn: () =>
    new Promise((resolve, reject) =>
      cp
        .spawn("echo", ["started"])
        .on("spawn", () => resolve("started"))
        .on("error", reject),
    ),
  spawnSync: () => {
    const { error, stdout } = cp.spawnSync("echo", ["started"]);
    if (error) throw error;
    return stdout.toString();
  },
  fork: () =>
    new Promise((resolve, reject) => {
      cp.fork(new URL(import.meta.url).pathname)
        .on("spawn", () => resolve("started"))
        .on("error", reject);
    }),
};

const signal = `process.kill(process.ppid, 0); globalThis.postMessage?.("sent")`;

const signals: Record<string, Attempt> = {
  parent: ({ pid }) => process.kill(pid, "SIGTERM"),
  parentGroup: ({ pid }) => process.kill(-pid, "SIGTERM"),
  everybody: () => process.kill(-1, "SIGTERM"),
  ownGroup: () => process.kill(0, "SIGTERM"),
  underscore: ({ pid }) => call(process, "_kill", pid, 15),
  debugger: ({ pid }) => call(process, "_debugProcess", pid),
  binding: ({ pid }) => {
    const { Process } = (call(process, "binding", "process_wrap") ?? {}) as { Process?: new () => object };
    if (Process === undefined) throw new Error("no binding");
    return call(Object.assign(new Process(), { pid }), "kill", 15);
  },
  deno: ({ pid }) => {
    const { Deno } = globalThis as { Deno?: { kill(pid: number, signal: string): void } };
    if (Deno === undefined) throw new Error("no Deno");
    return Deno.kill(pid, "SIGTERM");
  },
  priority: ({ pid }) => os.setPriority(pid, 19),
  context: ({ pid }) =>
    (
      vm.runInNewContext("process => process.kill", {}) as (
        from: object,
      ) => (pid: number, signal: number) => void
    )(process)(pid, 0),
  thread: ({ pid }) => fromThread(() => new workers.Worker(signal, { eval: true }), pid),
  threadFromBuiltin: ({ pid }) => {
    const { Worker } = process.getBuiltinModule("node:worker_threads");
    return fromThread(() => new Worker(signal, { eval: true }), pid);
  },
  threadFromRequire: ({ pid }) => {
    const { Worker } = module.createRequire(import.meta.url)("node:worker_threads");
    return fromThread(() => new Worker(signal, { eval: true }), pid);
  },
  hooksThread: () => {
    if (typeof module.register !== "function") throw new Error("no hooks");
    return module.register(`data:text/javascript,${signal}`);
  },
  execve: () => {
    if (typeof process.execve !== "function" || process.versions.bun !== undefined)
      throw new Error("not tried");
    return process.execve("/bin/true", ["true"], {});
  },
};

const groups: Record<string, Record<string, Attempt>> = { reads, writes, processes, signals };

/** On a runtime that cannot keep a thread from it, only whether it could be started is asked. */
function fromThread(start: () => workers.Worker, _pid: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const worker = start();
    worker.on("error", reject);
    worker.on("exit", (code) => (code === 0 ? resolve("sent") : reject(new Error("exited"))));
  });
}

function call(owner: object, name: string, ...values: unknown[]): unknown {
  const member = (owner as Record<string, unknown>)[name];
  if (typeof member !== "function") throw new Error(`no ${name}`);
  return member.apply(owner, values);
}

export default async function tryAll(input: { group: string } & Target): Promise<Record<string, unknown>> {
  const results: Record<string, unknown> = {};
  for (const [name, attempt] of Object.entries(groups[input.group] ?? {})) {
    try {
      const got = await attempt(input);
      results[name] = `got ${typeof got === "string" ? got : (JSON.stringify(got) ?? typeof got)}`;
    } catch {
      results[name] = "refused";
    }
  }
  return results;
}
