/**
 * `svc admin backup` and `restore`. The backup is taken while webhooks arrive; `test/bench/backup.ts` does the same at
 * thousands of webhooks per second.
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { writeTar } from "../../../project/archive/write.ts";
import { parseManifest } from "../../../server/admin/backup/manifest.ts";
import { all } from "../../../server/store/engine.ts";
import { openSqlite } from "../../../server/store/sqlite/index.ts";
import { type Result, svc } from "../../cli/support.ts";
import { deploy } from "../../support/project.ts";
import { call, ended, ok, runToEnd } from "../../support/rest.ts";
import { fastRunners } from "../../support/runtimes.ts";
import { TestServer } from "../../support/server.ts";
import type { AcceptedJson } from "../../support/shapes.ts";
import { temporaryFolder } from "../../support/store.ts";

const env = {
  ...fastRunners,
  SVC_API_KEY: "svc_backup_0123456789abcdef",
  SVC_WEBHOOK_RATE: "1000000",
  SVC_WEBHOOK_BURST: "1000000",
};
const server = new TestServer("node", { env });
const folder = join(server.dataDir, "..", `svc-backups-${randomUUID()}`);
const file = join(folder, "backup.tar");
let url = "";

const admin = (args: readonly string[], options = {}): Promise<Result> =>
  svc("bun", ["admin", ...args], options);
const backUp = (...args: string[]) => admin(["backup", ...args, "--data", server.dataDir]);
const restore = (from: string, dataDir: string) => admin(["restore", from, "--data", dataDir]);

beforeAll(async () => {
  mkdirSync(folder);
  await server.start();
  await ok(server, "PUT", "/api/v1/secrets/TOKEN", { json: { value: "hush" } });
  const agents = {
    echo: {
      code: "export default (input, ctx) => [input.n, ctx.secrets.TOKEN.length];",
      webhooks: [{ slug: "in" }],
    },
    stuck: { code: "export default () => new Promise(() => {});", timeout: 3600 },
  };
  url = (await deploy(server, { agents })).webhooks[0]?.url ?? "";
});
afterAll(async () => {
  await server.discard(false);
  rmSync(folder, { recursive: true, force: true });
});

test("a backup taken while webhooks arrive restores every execution that was acknowledged before it", async () => {
  const { execution_id: running } = await ok<AcceptedJson>(server, "POST", "/api/v1/executions", {
    json: { name: "stuck" },
  });
  const acknowledged: { id: string; atMs: number }[] = [];
  let stopped = false;
  const sending = Array.from({ length: 4 }, async () => {
    while (!stopped) {
      const { status, json } = await call<AcceptedJson>(server, "POST", url, {
        json: { n: acknowledged.length },
      });
      expect(status).toBe(202);
      acknowledged.push({ id: json.execution_id, atMs: Date.now() });
    }
  });
  const done = await backUp(file, "--with-master-key", "--json");
  stopped = true;
  await Promise.all(sending);
  expect(done.stderr).toBe("");
  const { created_at, packages, tables } = JSON.parse(done.stdout);
  expect(packages).toBe(1);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["backup.tar"]);

  const dataDir = join(folder, "restored");
  const report = await restore(file, dataDir);
  expect(report).toMatchObject({ code: 0, stdout: "" });
  expect(report.stderr).toMatch(/^✔ Restored the backup of .* by svc .*: \d+ executions?, 1 package\.\n$/);
  expect(readdirSync(dataDir).sort()).toEqual(["master.key", "objects", "svc.db"]);
  expect(statSync(join(dataDir, "master.key")).mode & 0o777).toBe(0o600);

  const select = "SELECT execution_id, input, headers, created_at FROM executions ORDER BY execution_id";
  const rowsOf = async (of: string) => {
    const engine = openSqlite(of);
    return engine.read(() => all(select)).finally(() => engine.close());
  };
  const [original, copied] = [await rowsOf(server.dataDir), await rowsOf(dataDir)];
  expect(copied).toHaveLength(tables.executions);
  const ids = new Set(copied.map(({ execution_id }) => execution_id));
  const expected = acknowledged.filter(({ atMs }) => atMs < Date.parse(created_at));
  expect(expected.length).toBeGreaterThan(0);
  expect(expected.filter(({ id }) => !ids.has(id))).toEqual([]);
  expect(original.filter(({ execution_id }) => ids.has(execution_id))).toEqual(copied);

  const restored = new TestServer("node", { env, dataDir });
  onTestFinished(() => restored.kill("SIGKILL").then(() => {}));
  await restored.start();
  for (const { id } of expected) expect((await ended(restored, id)).status).toBe("succeeded");
  expect((await runToEnd(restored, "echo", { n: 7 })).output).toEqual([7, 4]);
  // It was running at the backup, and runs again.
  expect(await ok(restored, "GET", `/api/v1/executions/${running}`)).toMatchObject({
    status: expect.stringMatching(/^(?:queued|running)$/),
    attempt: 1,
  });
});

test("a backup without the master key says so", async () => {
  const bare = join(folder, "bare.tar");
  const written = await backUp(bare);
  expect(written.stderr).toMatch(/hint: .*does not contain the master key/);
  expect(execFileSync("tar", ["-tf", bare], { encoding: "utf8" })).not.toContain("master.key");
  const dataDir = join(folder, "bare");
  expect((await restore(bare, dataDir)).stderr).toMatch(/hint: .*Set SVC_MASTER_KEY, or copy master\.key/);
  expect(readdirSync(dataDir).sort()).toEqual(["objects", "svc.db"]);
});

test("writes to standard output and restores from standard input", async () => {
  const script = `"$0" "$1" admin backup - --data "$2" 2>/dev/null | "$0" "$1" admin restore - --data "$3"`;
  const launcher = join(import.meta.dirname, "../../../cli/launcher.js");
  execFileSync("sh", ["-c", script, process.execPath, launcher, server.dataDir, join(folder, "piped")], {
    stdio: "ignore",
  });
  expect(readdirSync(join(folder, "piped")).sort()).toEqual(["objects", "svc.db"]);
  expect((await backUp("-", "--json")).code).toBe(2);
});

test.each<[string, string[], RegExp]>([
  ["an existing file", ["backup", "FILE", "--data", "DATA"], /Cannot write .*: it already exists/],
  [
    "a folder without a store",
    ["backup", "NEW", "--data", "FOLDER"],
    /Cannot back up the store: .* contains none/,
  ],
  [
    "a folder that does not exist",
    ["backup", "FOLDER/no/file", "--data", "DATA"],
    /its folder does not exist/,
  ],
  ["a data folder with files", ["restore", "FILE", "--data", "DATA"], /the folder must be empty or new/],
  ["a file that does not exist", ["restore", "NEW", "--data", "NEW"], /Cannot read .*: it does not exist/],
])("refuses %s", async (_, args, message) => {
  if (!existsSync(file)) await backUp(file);
  const names: [string, string][] = [
    ["FILE", file],
    ["DATA", server.dataDir],
    ["NEW", join(folder, "new")],
    ["FOLDER", folder],
  ];
  const words = args.map((word) => names.reduce((text, [name, path]) => text.replace(name, path), word));
  const { code, stderr } = await admin(words);
  expect(stderr).toMatch(message);
  expect(code).toBeGreaterThan(0);
  expect(existsSync(join(folder, "new"))).toBe(false);
});

test("refuses with PostgreSQL, and names its means", async () => {
  for (const command of ["backup", "restore"]) {
    const { code, stderr } = await admin([command, file], {
      env: { SVC_DATABASE_URL: "postgres://svc@localhost/svc" },
    });
    expect(stderr).toMatch(/the store is in PostgreSQL; use .*pg_dump/);
    expect(code).toBe(1);
  }
});

describe("a damaged or hostile backup", () => {
  const path = (digest: string) => `objects/org_${"0".repeat(26)}/${digest.repeat(64)}`;
  const digest = "0".repeat(64);
  const tar = (entries: Record<string, string | Uint8Array>): Buffer => {
    const files = Object.entries(entries).map(([name, text]) => {
      const content = typeof text === "string" ? Buffer.from(text) : text;
      return { path: name, absolutePath: "", sizeBytes: content.length, executable: false, content };
    });
    return Buffer.concat([...writeTar(files, () => {})]);
  };
  const manifest = (changes: object = {}): string =>
    JSON.stringify({
      format: 1,
      schema_version: 1,
      compatible_from: null,
      tables: {},
      files: [{ path: "svc.db", size_bytes: 4, sha256: digest }],
      ...changes,
    });
  const listing = (name: string) => manifest({ files: [{ path: name, size_bytes: 1, sha256: digest }] });

  test.each<[string, Uint8Array, RegExp]>([
    ["no archive", Buffer.from("hello"), /the backup is cut off/],
    ["an archive of another program", tar({ "a.txt": "a" }), /not a backup of svc/],
    ["a manifest that is not JSON", tar({ "manifest.json": "{" }), /manifest\.json is not JSON/],
    [
      "another format",
      tar({ "manifest.json": manifest({ format: 2 }) }),
      /it has format 2, and this program restores 1/,
    ],
    [
      "a newer schema",
      tar({ "manifest.json": manifest({ schema_version: 9999 }) }),
      /schema version 9999, this program knows \d+/,
    ],
    [
      "a path outside",
      tar({ "manifest.json": listing("../evil") }),
      /lists "\.\.\/evil", which no backup contains/,
    ],
    ["an absolute path", tar({ "manifest.json": listing("/etc/passwd") }), /which no backup contains/],
    [
      "a path outside below objects",
      tar({ "manifest.json": listing("objects/../../evil") }),
      /which no backup contains/,
    ],
    ["no store", tar({ "manifest.json": listing(path("a")) }), /does not list svc\.db/],
    [
      "an unlisted entry",
      tar({ "manifest.json": manifest(), "../evil": "evil" }),
      /entry 2 of the backup differs/,
    ],
    [
      "another size",
      tar({ "manifest.json": manifest(), "svc.db": "12345" }),
      /entry 2 of the backup differs/,
    ],
    [
      "another digest",
      tar({ "manifest.json": manifest(), "svc.db": "1234" }),
      /svc\.db in the backup has another digest/,
    ],
    ["a missing entry", tar({ "manifest.json": manifest() }), /the backup has no svc\.db/],
  ])("with %s leaves nothing", async (_, bytes, message) => {
    const from = temporaryFolder();
    const { restore } = await import("../../../server/admin/backup/restore.ts");
    const into = async (dataDir: string) =>
      restore(
        (async function* () {
          yield bytes;
        })(),
        dataDir,
      );
    await expect(into(join(from, "new"))).rejects.toThrow(message);
    expect(existsSync(join(from, "new"))).toBe(false);
    await expect(into(from)).rejects.toThrow(message);
    expect(readdirSync(from)).toEqual([]);
  });

  test("that is cut off anywhere leaves nothing", async () => {
    if (!existsSync(file)) await backUp(file);
    const bytes = readFileSync(file);
    const { restore } = await import("../../../server/admin/backup/restore.ts");
    const from = temporaryFolder();
    for (const length of [0, 100, 512, 5_000, bytes.length >> 1, bytes.length - 1025]) {
      const cut = (async function* () {
        yield bytes.subarray(0, length);
      })();
      await expect(restore(cut, join(from, "new"))).rejects.toThrow(/cut off|no objects/);
      expect(readdirSync(from)).toEqual([]);
    }
  });

  test("has no row that its manifest does not count", async () => {
    if (!existsSync(file)) await backUp(file);
    const from = temporaryFolder();
    execFileSync("tar", ["-xf", file, "-C", from]);
    const read = parseManifest(readFileSync(join(from, "manifest.json"), "utf8"));
    read.tables.executions = 1_000_000;
    const entries: Record<string, string | Uint8Array> = { "manifest.json": JSON.stringify(read) };
    for (const { path } of read.files) entries[path] = readFileSync(join(from, path));
    writeFileSync(join(from, "changed.tar"), tar(entries));
    const { stderr } = await restore(join(from, "changed.tar"), join(from, "new"));
    expect(stderr).toMatch(/table executions has \d+ rows, and manifest\.json says 1000000/);
    expect(existsSync(join(from, "new"))).toBe(false);
  });
});

test("a server refuses a folder in which a restore has not ended", async () => {
  const dataDir = temporaryFolder();
  mkdirSync(join(dataDir, "restoring"));
  expect(() => openSqlite(dataDir)).toThrow(/a restore into it has not ended/);
});
