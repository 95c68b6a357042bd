/** Access of other users to the data folder. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSqlite } from "../../../server/store/sqlite/index.ts";
import { lockDataDir } from "../../../server/store/sqlite/lock.ts";
import { deploy } from "../../support/project.ts";
import { ok, runToEnd } from "../../support/rest.ts";
import { commandRuntimes } from "../../support/runtimes.ts";
import { TestServer } from "../../support/server.ts";

/** Entries that other users could reach: those below a private folder are out of reach. */
function reachable(folder: string, root: string = folder): string[] {
  if ((statSync(folder).mode & 0o077) === 0 && folder !== root) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const stats = statSync(path);
    const isOpen = (stats.mode & 0o077) !== 0;
    return [...(isOpen ? [relative(root, path)] : []), ...(stats.isDirectory() ? reachable(path, root) : [])];
  });
}

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe.each(commandRuntimes("bun"))("the data folder on %s", (runtime) => {
  test("is created for its owner only, and restricted again when it was opened", async () => {
    const parent = mkdtempSync(join(tmpdir(), "svc-data-"));
    onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
    const dataDir = join(parent, "a", "data");
    const server = new TestServer(runtime, { dataDir });
    onTestFinished(() => server.discard(false));
    await server.start();
    await deploy(server, { agents: { echo: "export default (input) => input;" } });
    await ok(server, "PUT", "/api/v1/secrets/KEY", { json: { value: "hush" } });
    await runToEnd(server, "echo");
    expect(mode(dataDir)).toBe("700");
    const names = readdirSync(dataDir);
    for (const name of [
      "svc.db",
      "svc.db-wal",
      "svc.db-shm",
      "server.lock",
      "master.key",
      "objects",
      "tmp",
    ]) {
      expect(names).toContain(name);
    }
    expect(reachable(dataDir)).toEqual([]);

    await server.kill("SIGKILL");
    chmodSync(dataDir, 0o755);
    for (const name of names) {
      if (name === "master.key") continue;
      chmodSync(join(dataDir, name), statSync(join(dataDir, name)).isDirectory() ? 0o777 : 0o666);
    }
    await server.start();
    expect(mode(dataDir)).toBe("700");
    expect(reachable(dataDir)).toEqual([]);
    expect(mode(join(dataDir, "svc.db"))).toBe("600");
  });
});

test("a folder that cannot be created is refused with a sentence", () => {
  const parent = mkdtempSync(join(tmpdir(), "svc-data-"));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const file = join(parent, "file");
  writeFileSync(file, "");
  for (const dataDir of [file, join(file, "data")]) {
    expect(() => lockDataDir(dataDir)).toThrow(`Cannot create the data folder ${dataDir}: ${file} is a file`);
  }
  if (process.platform !== "linux") return;
  expect(() => lockDataDir("/proc/svc/data")).toThrow(
    /\/proc\/svc\/data: \/proc\/svc cannot be created \(ENOENT\)/,
  );
});

describe("an existing folder", () => {
  const folder = (): string => {
    const path = mkdtempSync(join(tmpdir(), "svc-data-"));
    onTestFinished(() => rmSync(path, { recursive: true, force: true }));
    return path;
  };

  test("that is empty is restricted", async () => {
    const dataDir = folder();
    chmodSync(dataDir, 0o777);
    lockDataDir(dataDir).release();
    expect(mode(dataDir)).toBe("700");
  });

  test("that other users can read is refused when it holds files of other programs", () => {
    const dataDir = folder();
    writeFileSync(join(dataDir, "other"), "");
    chmodSync(dataDir, 0o755);
    expect(() => lockDataDir(dataDir)).toThrow(
      /Cannot use the data folder .*other files; pass a folder of its own/,
    );
    expect(() => openSqlite(dataDir)).toThrow(/Cannot use the data folder/);
    expect(mode(dataDir)).toBe("755");
    expect(readdirSync(dataDir)).toEqual(["other"]);
  });

  test("that only its owner can read may hold other files", () => {
    const dataDir = folder();
    writeFileSync(join(dataDir, "other"), "", { mode: 0o644 });
    mkdirSync(join(dataDir, "folder"), { mode: 0o755 });
    lockDataDir(dataDir).release();
    expect(mode(join(dataDir, "other"))).toBe("644");
    expect(mode(join(dataDir, "folder"))).toBe("755");
  });

  test("keeps the lock of a server in this process", () => {
    const dataDir = folder();
    const lock = lockDataDir(dataDir);
    expect(() => lockDataDir(dataDir)).toThrow(/another server uses it/);
    expect(() => lockDataDir(dataDir)).toThrow(/another server uses it/);
    lock.release();
    lockDataDir(dataDir).release();
  });
});
