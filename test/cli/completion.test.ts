import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { commandOf, commandRuntimes } from "../support/runtimes.ts";
import { launcher, projectFolder, svc, temporaryFolder } from "./support.ts";

describe.each(commandRuntimes("bun"))("shell completion on %s", (runtime) => {
  const suggestions = async (words: readonly string[], cwd?: string): Promise<string[]> => {
    const { code, stdout } = await svc(
      runtime,
      ["complete", "--", ...words],
      cwd === undefined ? {} : { cwd },
    );
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    // The last line holds the directive for the shell.
    expect(lines.pop()).toMatch(/^:\d+$/);
    return lines.map((line) => line.split("\t")[0] ?? "");
  };

  test.each<[string[], string[]]>([
    [["depl"], ["deployments"]],
    [["deployments", "ro"], ["rollback"]],
    [["deployment", "rollback", "--y"], ["--yes"]],
    [["executions", "list", "--status", "f"], ["failed"]],
    [["keys", "create", "--scope", "de"], ["deploy"]],
    [["nothing", "x"], []],
  ])("suggests for %j", async (words, expected) => {
    expect(await suggestions(words)).toEqual(expected);
  });

  test("suggests the agents of the project, and none without one", async () => {
    const cwd = await projectFolder("triage", { "agents/triage.js": "export default () => 1;\n" });
    expect(await suggestions(["run", "tr"], cwd)).toEqual(["triage"]);
    await writeFile(join(cwd, "svc-project.yaml"), "name: [");
    expect(await suggestions(["run", "tr"], cwd)).toEqual([]);
    expect(await suggestions(["run", "tr"], await temporaryFolder())).toEqual([]);
  });

  test("names the shells", async () => {
    const { code, stderr } = await svc(runtime, ["completion", "tcsh"]);
    expect(stderr).toMatch(/^error: <shell> must be one of bash, zsh, fish, powershell, not "tcsh"\./);
    expect(code).toBe(2);
  });

  test("completes a word in bash", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "bin"));
    const command = [...commandOf(runtime), launcher].map((word) => `'${word}'`).join(" ");
    await writeFile(join(folder, "bin/svc"), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
    const { stdout: script } = await svc(runtime, ["completion", "bash"]);
    await writeFile(join(folder, "svc.bash"), script);
    // The function of the package bash-completion that the script calls.
    const words = "_get_comp_words_by_ref() { words=(svc executions l); cword=2; cur=l; prev=executions; }";
    const ask = `${words}; compopt() { :; }; source svc.bash; __svc_complete; echo "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)("bash", ["-c", ask], {
      cwd: folder,
      env: { PATH: `${join(folder, "bin")}:${process.env.PATH}`, HOME: folder },
    });
    expect(stdout).toMatch(/^list\b/);
  });
});
