import { execFile } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
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
    [["executions", "--stat"], ["--status"]],
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

  test("asks the shell for files where an option takes one", async () => {
    const { stdout } = await svc(runtime, ["complete", "--", "run", "triage", "-d", "sam"]);
    expect(stdout).toBe(":0\n");
  });

  test("completes words in bash without evaluating them", async () => {
    const folder = await projectFolder("triage", { "agents/triage.js": "export default () => 1;\n" });
    await mkdir(join(folder, "bin"));
    const command = [...commandOf(runtime), launcher].map((word) => `'${word}'`).join(" ");
    await writeFile(join(folder, "bin/svc"), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
    const { stdout: script } = await svc(runtime, ["completion", "bash"]);
    await writeFile(join(folder, "svc.bash"), script);
    // The variables as readline sets them; bash passes the word without the parts before `=` and `:`.
    const ask = (words: readonly string[], line: string, word: string): string =>
      `COMP_WORDS=(svc ${words.map((each) => `'${each}'`).join(" ")}) COMP_CWORD=${words.length} COMP_LINE='svc ${line}' ` +
      `COMP_POINT=${line.length + 4}; __svc_complete svc '${word}' x; echo "> \${COMPREPLY[*]}"`;
    const lines = [
      "set -e; source ./svc.bash; source ./svc.bash; set +e; compopt() { echo files; }",
      ask(["executions", "l"], "executions l", "l"),
      ask(["executions", "--status", "=", "f"], "executions --status=f", "f"),
      ask(["executions", "--status", "="], "executions --status=", ""),
      ask(["run", "$(touch executed)", "--ki"], "run $(touch executed) --ki", "--ki"),
      ask(["run", "triage", "--kind", "=", "`touch executed`"], "run triage --kind=`touch executed`", ""),
      ask(["run", "triage;", "touch executed", "--de"], "run triage; touch executed --de", "--de"),
      ask(["run", "triage", "--data", "sa"], "run triage --data sa", "sa"),
    ];
    const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", lines.join("\n")], {
      cwd: folder,
      env: { PATH: `${join(folder, "bin")}:${process.env.PATH}`, HOME: folder },
    });
    expect(stdout.split("\n").slice(0, -1)).toEqual([
      "> list",
      "> failed",
      "> queued running succeeded failed cancelled",
      "> --kind",
      "> ",
      "> --detach",
      "files",
      "> ",
    ]);
    expect(await readdir(folder)).not.toContain("executed");
  });

  test.each(["bash", "zsh", "fish", "powershell"])("the script for %s evaluates no words", async (shell) => {
    const { stdout } = await svc(runtime, ["completion", shell]);
    expect(stdout).toContain("svc complete");
    expect(stdout.replaceAll(/^ *#.*$/gm, "")).not.toMatch(/\beval\b|Invoke-Expression/);
  });
});
