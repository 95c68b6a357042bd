import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { CollectError, collectProject } from "../../project/collect.ts";
import { stageFiles } from "../../project/stage.ts";
import { testFolder, writeFiles } from "./folder.ts";

async function paths(root: string): Promise<string[]> {
  return (await collectProject(root)).map(({ path }) => path);
}

async function problems(root: string): Promise<string[]> {
  const error = await collectProject(root).then(
    () => new Error("nothing is wrong"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CollectError);
  return (error as CollectError).problems.map(({ path, message }) => `${path}: ${message}`);
}

test("collects the project file and the two folders, with sizes and modes", async () => {
  const root = testFolder();
  writeFiles(root, {
    "svc-project.yaml": "name: a\n",
    "agents/a.ts": "12345",
    "agents/.hidden": "",
    "agents/deep/er/b.ts": "1",
    "workflows/w.ts": "",
    "README.md": "",
    "src/agents/no.ts": "",
    "node_modules/x/index.js": "",
    ".env": "SECRET",
  });
  mkdirSync(join(root, "agents/empty"));
  execFileSync("mkfifo", [join(root, "agents/pipe")]);
  chmodSync(join(root, "agents/deep/er/b.ts"), 0o744);
  const files = await collectProject(root);
  expect(files.map(({ path, sizeBytes, executable }) => [path, sizeBytes, executable])).toEqual([
    ["agents/.hidden", 0, false],
    ["agents/a.ts", 5, false],
    ["agents/deep/er/b.ts", 1, true],
    ["svc-project.yaml", 8, false],
    ["workflows/w.ts", 0, false],
  ]);
  for (const { path, absolutePath } of files) expect(absolutePath).toBe(join(root, path));
});

test("accepts missing folders and a missing project file", async () => {
  const root = testFolder();
  expect(await paths(root)).toEqual([]);
  writeFiles(root, { "svc-project.yaml": "" });
  expect(await paths(root)).toEqual(["svc-project.yaml"]);
});

describe("ignores", () => {
  test("by .gitignore files in each folder, without a repository and without git", async () => {
    const root = testFolder();
    writeFiles(root, {
      ".gitignore": "*.log\n/agents/private/\n!keep.log\n",
      "agents/.gitignore": "local.*\n",
      "svc-project.yaml": "",
      "agents/a.ts": "",
      "agents/x.log": "",
      "agents/keep.log": "",
      "agents/local.ts": "",
      "agents/private/keep.log": "",
      "workflows/local.ts": "",
    });
    vi.stubEnv("PATH", "");
    expect(await paths(root)).toEqual([
      "agents/.gitignore",
      "agents/a.ts",
      "agents/keep.log",
      "svc-project.yaml",
      "workflows/local.ts",
    ]);
    vi.unstubAllEnvs();
  });

  test("by the containing repository, its info/exclude, and the user's exclude file", async () => {
    const folder = testFolder();
    const root = join(folder, "repository", "projects", "one");
    writeFiles(folder, {
      "repository/.git/HEAD": "ref: refs/heads/main\n",
      "repository/.git/info/exclude": "excluded.ts\n",
      "repository/.gitignore": "top.ts\n/projects/*/agents/by-path.ts\n",
      "repository/projects/.gitignore": "middle.ts\n!back.user\n",
      "home/.gitconfig": '[core]\n\texcludesFile = "~/my ignores"\n',
      "home/my ignores": "*.user\n",
    });
    const names = ["a.ts", "excluded.ts", "top.ts", "by-path.ts", "middle.ts", "b.user", "back.user"];
    writeFiles(root, Object.fromEntries(names.map((name) => [`agents/${name}`, ""])));
    vi.stubEnv("HOME", join(folder, "home"));
    vi.stubEnv("XDG_CONFIG_HOME", "");
    expect(await paths(root)).toEqual(["agents/a.ts", "agents/back.user"]);
    renameSync(join(folder, "home/.gitconfig"), join(folder, "home/gone"));
    writeFiles(folder, { "home/.config/git/ignore": "a.*\n" });
    expect(await paths(root)).toEqual(["agents/b.user", "agents/back.user"]);
    writeFiles(folder, { "xdg/git/ignore": "b.*\n" });
    vi.stubEnv("XDG_CONFIG_HOME", join(folder, "xdg"));
    expect(await paths(root)).toEqual(["agents/a.ts", "agents/back.user"]);
    vi.unstubAllEnvs();
  });

  test("by the info/exclude of the main working tree in a linked one", async () => {
    const folder = testFolder();
    const git = (cwd: string, ...args: string[]): void => {
      const author = ["-c", "user.name=a", "-c", "user.email=a@b"];
      execFileSync("git", [...author, ...args], { cwd, stdio: "ignore" });
    };
    const first = join(folder, "first");
    writeFiles(first, { "agents/a.ts": "", "agents/b.ts": "" });
    git(first, "init");
    git(first, "add", ".");
    git(first, "commit", "-m", "first");
    git(first, "worktree", "add", join(folder, "second"));
    mkdirSync(join(first, ".git/info"), { recursive: true });
    writeFileSync(join(first, ".git/info/exclude"), "b.ts\n");
    expect(await paths(join(folder, "second"))).toEqual(["agents/a.ts"]);
  });

  test("no root folder of a project, even when a rule matches it", async () => {
    const folder = testFolder();
    writeFiles(folder, { ".git/HEAD": "ref: x\n", ".gitignore": "build/\nsvc-project.yaml\n" });
    writeFiles(folder, { "build/svc-project.yaml": "", "build/agents/a.ts": "" });
    expect(await paths(join(folder, "build"))).toEqual(["agents/a.ts", "svc-project.yaml"]);
  });

  test(".git at any depth", async () => {
    const root = testFolder();
    writeFiles(root, {
      "agents/sub/.git/HEAD": "",
      "agents/sub/a.ts": "",
      "agents/other/.git": "gitdir: x",
      "agents/.gitkeep": "",
    });
    expect(await paths(root)).toEqual(["agents/.gitkeep", "agents/sub/a.ts"]);
  });
});

describe("links", () => {
  test("within the project are followed", async () => {
    const root = testFolder();
    writeFiles(root, {
      "svc-project.yaml": "",
      "shared/prompt.txt": "hello",
      "shared/lib/x.ts": "export {};",
      "agents/a.ts": "",
    });
    chmodSync(join(root, "shared/prompt.txt"), 0o755);
    symlinkSync("../shared/prompt.txt", join(root, "agents/prompt.txt"));
    symlinkSync("prompt.txt", join(root, "agents/again.txt"));
    symlinkSync(join(root, "shared/lib"), join(root, "agents/lib"));
    symlinkSync("agents", join(root, "workflows"));
    const files = await collectProject(root);
    expect(files.map(({ path, sizeBytes, executable }) => [path, sizeBytes, executable])).toEqual([
      ["agents/a.ts", 0, false],
      ["agents/again.txt", 5, true],
      ["agents/lib/x.ts", 10, false],
      ["agents/prompt.txt", 5, true],
      ["svc-project.yaml", 0, false],
      ["workflows/a.ts", 0, false],
      ["workflows/again.txt", 5, true],
      ["workflows/lib/x.ts", 10, false],
      ["workflows/prompt.txt", 5, true],
    ]);
    const staged = join(testFolder(), "staged");
    await stageFiles(files, staged);
    expect(readFileSync(join(staged, "workflows/lib/x.ts"), "utf8")).toBe("export {};");
    expect((await collectProject(staged)).map(({ path, executable }) => [path, executable])).toEqual(
      files.map(({ path, executable }) => [path, executable]),
    );
  });

  test("that leave the project, have no target or form a loop are reported together", async () => {
    const folder = testFolder();
    const root = join(folder, "project");
    writeFiles(folder, {
      "secret.txt": "s",
      "project-2/x": "",
      "project/agents/a.ts": "",
      "project/agents/deep/b.ts": "",
    });
    symlinkSync("../../secret.txt", join(root, "agents/up"));
    symlinkSync("/etc", join(root, "agents/etc"));
    symlinkSync("../../project-2", join(root, "agents/neighbour"));
    symlinkSync("gone", join(root, "agents/gone"));
    symlinkSync("self", join(root, "agents/self"));
    symlinkSync("..", join(root, "agents/deep/back"));
    symlinkSync("../secret.txt", join(root, "svc-project.yaml"));
    const leaves = "the link leaves the project; copy its target into the project, or ignore the link";
    expect(await problems(root)).toEqual([
      "agents/deep/back: the link leads to a folder that contains it",
      `agents/etc: ${leaves}`,
      "agents/gone: the target of the link does not exist",
      `agents/neighbour: ${leaves}`,
      "agents/self: the target of the link does not exist",
      `agents/up: ${leaves}`,
      `svc-project.yaml: ${leaves}`,
    ]);
    writeFiles(root, { ".gitignore": "/agents/deep/\netc\ngone\nneighbour\nself\nup\n" });
    expect(await problems(root)).toEqual([`svc-project.yaml: ${leaves}`]);
  });

  test("to each other are reported", async () => {
    const root = testFolder();
    writeFiles(root, { "agents/one/a.ts": "", "agents/two/b.ts": "" });
    symlinkSync("../two", join(root, "agents/one/other"));
    symlinkSync("../one", join(root, "agents/two/other"));
    expect(await problems(root)).toEqual([
      "agents/one/other/other: the link leads to a folder that contains it",
      "agents/two/other/other: the link leads to a folder that contains it",
    ]);
  });

  test("to a project behave like the project", async () => {
    const folder = testFolder();
    writeFiles(folder, { "real/agents/a.ts": "", "real/agents/b.ts": "", "real/.gitignore": "b.ts\n" });
    symlinkSync("real", join(folder, "link"));
    expect(await paths(join(folder, "link"))).toEqual(["agents/a.ts"]);
  });
});

test("rejects names that some file systems treat as one", async () => {
  const root = testFolder();
  writeFiles(root, {
    "agents/A.ts": "",
    "agents/a.ts": "",
    "agents/x/1": "",
    "agents/X/2": "",
    "agents/\u00e9": "",
    "agents/e\u0301": "",
  });
  const found = await problems(root);
  expect(found).toHaveLength(3);
  for (const one of found)
    expect(one).toMatch(/^agents\/(a\.ts|x|é|e\u0301): differs from .* only in case or composition/);
});

test("rejects a name that is not UTF-8 unless it is ignored", async () => {
  const root = testFolder();
  writeFiles(root, { "agents/a.ts": "" });
  writeFileSync(Buffer.concat([Buffer.from(`${root}/agents/caf`), Buffer.from([0xe9])]), "");
  expect(await problems(root)).toEqual(["agents/caf\ufffd: the name is not UTF-8"]);
  writeFiles(root, { ".gitignore": "caf*\n" });
  expect(await paths(root)).toEqual(["agents/a.ts"]);
});
