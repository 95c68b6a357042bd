/** The systemd unit against the code, and with `systemd-analyze` where it is installed. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadConfig } from "../../server/config.ts";
import { root } from "../support/runtimes.ts";
import { readDeploy, serverVariables } from "./files.ts";

const unit = readDeploy("systemd/svc.service");
const dropIn = readDeploy("systemd/no-bubblewrap.conf");
const settings = (text: string): [name: string, value: string][] =>
  [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]);
const values = (text: string, name: string) =>
  settings(text).flatMap(([key, value]) => (key === name ? [value] : []));
const folder = mkdtempSync(join(tmpdir(), "svc-unit-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("the unit starts the command of the package with variables that the server accepts", () => {
  const { bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(values(unit, "ExecStart")).toEqual([`/opt/svc/bin/${Object.keys(bin)[0]} serve`]);
  const env = Object.fromEntries(
    [...values(unit, "Environment"), ...values(dropIn, "Environment")].map((text) => text.split("=", 2)),
  );
  const config = loadConfig({}, env);
  expect(config).toMatchObject({ host: "127.0.0.1", port: 7070, dataDir: "/var/lib/svc/data" });
  expect(config.runners.sandbox).toBe("none");
  const known = serverVariables();
  const used = `${unit}${dropIn}${readDeploy("systemd/svc.env.example")}`.match(/\bSVC_[A-Z_]+\b/g) ?? [];
  expect(used.filter((name) => !known.has(name))).toEqual([]);
});

test("the unit gives the server time to stop, writes to the data folder only, and restarts it", () => {
  const of = (name: string) => values(unit, name)[0];
  // 30 s of the server.
  expect(Number(of("TimeoutStopSec"))).toBeGreaterThan(30);
  expect([of("KillMode"), of("Restart"), of("OOMPolicy")]).toEqual(["mixed", "always", "continue"]);
  expect([of("ProtectSystem"), of("StateDirectory"), of("NoNewPrivileges")]).toEqual([
    "strict",
    "svc",
    "yes",
  ]);
  expect(values(unit, "ReadWritePaths")).toEqual([]);
  expect(Number(of("LimitNOFILE"))).toBeGreaterThan(loadConfig({}, {}).limits.connections);
});

test("the unit has no setting that stops bubblewrap or the compiler of the runtime", () => {
  const names = settings(unit).map(([name]) => name);
  for (const left of ["RestrictNamespaces", "ProtectProc", "ProtectKernelTunables", "ProtectKernelLogs"]) {
    expect(names).not.toContain(left);
    expect(values(dropIn, left)).toHaveLength(1);
  }
  expect(names).not.toContain("MemoryDenyWriteExecute");
});

test.runIf(spawnSync("systemd-analyze", ["--version"]).status === 0)(
  "systemd accepts the unit, and rates it as well protected",
  () => {
    const path = join(folder, "svc.service");
    // systemd checks that the program exists.
    writeFileSync(path, unit.replace("/opt/svc/bin/svc", "/bin/true"));
    const verify = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
    expect([
      verify.stderr.replaceAll(/^.*(?:\/lib\/|\/usr\/lib\/)systemd.*$/gm, "").trim(),
      verify.status,
    ]).toEqual(["", 0]);
    const exposure = () => {
      const text = execFileSync("systemd-analyze", ["security", "--offline=true", "--no-pager", path], {
        encoding: "utf8",
      });
      return Number(/Overall exposure level for svc\.service: ([\d.]+)/.exec(text)?.[1]);
    };
    expect(exposure()).toBeLessThan(4);
    mkdirSync(`${path}.d`);
    writeFileSync(join(`${path}.d`, "no-bubblewrap.conf"), dropIn);
    expect(exposure()).toBeLessThan(2);
  },
);
