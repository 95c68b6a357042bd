/**
 * The server as the image and the unit run it: as another user without privileges, with the data folder and a temporary
 * folder as the only writable places. It needs root on Linux. No container engine takes part.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { ok, runToEnd } from "../support/rest.ts";
import { bareEnvironment, bin, root } from "../support/runtimes.ts";
import type { HealthJson } from "../support/shapes.ts";
import { readDeploy } from "./files.ts";

const user = 65_534;
const folder = mkdtempSync(join(tmpdir(), "svc-read-only-"));
const unshared = ["--mount", "sh", join(root, "test/deploy/read-only.sh"), folder];
const isPossible =
  process.getuid?.() === 0 && spawnSync("unshare", [...unshared, "setpriv", "--help"]).status === 0;
afterAll(() => rmSync(folder, { recursive: true }));

describe.runIf(isPossible)("a server without privileges on a read-only file system", () => {
  const caller = { url: "", apiKey: "svc_readonly_0123456789abcdef" };
  let child: ChildProcess;
  let output = "";

  beforeAll(async () => {
    chmodSync(folder, 0o755);
    for (const name of ["data", "tmp"]) {
      mkdirSync(join(folder, name));
      chownSync(join(folder, name), user, user);
    }
    const [command] = /^CMD (\[.*\])$/m.exec(readDeploy("Dockerfile"))?.slice(1) ?? [];
    const identity = ["--reuid", String(user), "--regid", String(user), "--clear-groups"];
    const args = [
      ...unshared,
      ...["setpriv", ...identity, "--no-new-privs", "--bounding-set=-all"],
      ...[bin("node"), join(root, "cli/launcher.js"), ...(JSON.parse(command ?? "[]") as string[])],
    ];
    const env = {
      ...bareEnvironment(),
      ...{ NODE_ENV: "production", HOME: "/nonexistent", TMPDIR: join(folder, "tmp") },
      ...{ SVC_PORT: "0", SVC_DATA_DIR: join(folder, "data"), SVC_API_KEY: caller.apiKey },
      // Where bubblewrap is installed, it must work under these restrictions.
      SVC_SANDBOX: "auto",
    };
    child = spawn("unshare", args, { cwd: "/", env, stdio: ["ignore", "pipe", "pipe"] });
    const listening = Promise.withResolvers<string>();
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const [, url] = /Listening on ([^\s"]+)/.exec(output) ?? [];
        if (url !== undefined) listening.resolve(url);
      });
    }
    child.once("exit", () => listening.reject(new Error(`The server ended:\n${output}`)));
    caller.url = await listening.promise;
  });
  afterAll(() => {
    child.kill("SIGKILL");
  });

  test("deploys and runs code", async () => {
    const code = `import { tmpdir } from "node:os";
import { writeFileSync } from "node:fs";
export default (input) => { writeFileSync(tmpdir() + "/scratch", "x"); return input; };`;
    await deploy(caller, { agents: { echo: code } });
    expect(await runToEnd(caller, "echo", { a: 1 })).toMatchObject({ status: "succeeded", output: { a: 1 } });
    const { isolation } = await ok<HealthJson>(caller, "GET", "/health");
    const hasBubblewrap = spawnSync("bwrap", ["--version"]).status === 0;
    expect(isolation).toMatch(hasBubblewrap ? /bubblewrap/ : /Node permission model/);
  });

  test("is healthy for the health check of the image", () => {
    const [, text = "[]"] = /^ {2}CMD (\["node".*\])$/m.exec(readDeploy("Dockerfile")) ?? [];
    const [, ...args] = JSON.parse(text) as string[];
    const check = (port: string) =>
      spawnSync(bin("node"), args, { env: { ...bareEnvironment(), SVC_PORT: port } }).status;
    expect(check(new URL(caller.url).port)).toBe(0);
    expect(check("9")).toBe(1);
  });

  test("ends on SIGTERM with status 0", async () => {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(output).not.toMatch(/EROFS|EACCES|EPERM/);
  });
});
