/** Compares `collectProject` with git on random trees with random `.gitignore` files. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectProject } from "../../project/collect.ts";
import { comparePaths } from "../../project/package-file.ts";
import fc from "../support/property.ts";
import { rounds } from "../support/rounds.ts";
import { makeFolder } from "./folder.ts";

const gitRounds = rounds(60);
let base: string;

beforeAll(() => {
  base = makeFolder();
  git(base, "init", "--quiet", "--template=", "template");
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

test(`collects the files that git lists, on ${gitRounds} trees`, {
  timeout: 60_000 + gitRounds * 200,
}, async () => {
  let round = 0;
  let ignored = 0;
  await fc.assert(
    fc.asyncProperty(tree(), async ({ files, ignoreFiles }) => {
      const root = join(base, `tree${round++}`);
      const written = plant(root, files, ignoreFiles);
      const ours = (await collectProject(root)).map((file) => file.path);
      const theirs = listedByGit(root);
      rmSync(root, { recursive: true });
      expect(ours).toEqual(theirs);
      ignored += written - ours.length;
    }),
    { numRuns: gitRounds },
  );
  // The patterns must match often enough for the test to be meaningful.
  expect(ignored).toBeGreaterThan(gitRounds);
});

interface Tree {
  files: string[];
  /** Folder and content. The folder `.git` means `.git/info/exclude`. */
  ignoreFiles: [folder: string, content: string][];
}

const names = [
  ...["a", "b", "ab", "abc", "foo", "foo.ts", "bar.js", ".hidden", "é", "日本", "a b", "x ", "z\t", "-", "]"],
  ...["[x]", "a*b", "w\\", "#h", "!n", "a?", "QUX", "1", "_", "foo.d.ts", "a-c", ":"],
];

function tree(): fc.Arbitrary<Tree> {
  const name = fc.constantFrom(...names);
  const folder = fc
    .tuple(fc.constantFrom("agents", "agents", "workflows"), fc.array(name, { maxLength: 3 }))
    .map(([top, rest]) => [top, ...rest].join("/"));
  const file = fc.tuple(folder, name).map((segments) => segments.join("/"));
  const place = fc.oneof(fc.constantFrom("", "", "agents", ".git"), folder);
  const lines = fc.array(pattern(), { minLength: 1, maxLength: 5 });
  const ending = fc.constantFrom("\n", "\n", "\r\n");
  const bom = fc.constantFrom("", "", "", "\ufeff");
  const content = fc.tuple(bom, lines, ending, fc.boolean()).map(([mark, all, end, closed]) => {
    return mark + all.join(end) + (closed ? end : "");
  });
  return fc.record({
    files: fc.array(file, { minLength: 5, maxLength: 25 }),
    ignoreFiles: fc.array(fc.tuple(place, content), { minLength: 1, maxLength: 4 }),
  });
}

function pattern(): fc.Arbitrary<string> {
  const literal = fc.constantFrom(...names, "agents", "workflows", "o", "f", ".ts");
  const escaped = literal.map((text) => text.replace(/[\\*?[\]# !]/g, "\\$&"));
  const set = fc.constantFrom(
    ...[
      "[ab]",
      "[!a]",
      "[^a-c]",
      "[[:alpha:]]",
      "[[:upper:]x]",
      "[]-a]",
      "[!]a]",
      "[a-",
      "[[:nope:]]",
      "[\\]]",
    ],
    ...[
      "[a\\-z]",
      "[--0]",
      "[[:digit:]-z]",
      "[:a]",
      "[[:a]",
      "[é]",
      "[",
      "[a-\\]]",
      "[z-a]",
      "[!-~]",
      "[[:punct:]]",
    ],
  );
  const wild = fc.constantFrom("*", "*", "**", "***", "?", "*.ts", "a*", "*b", "\\", "\\*");
  const atom = fc.oneof(
    { weight: 4, arbitrary: literal },
    { weight: 2, arbitrary: escaped },
    { weight: 3, arbitrary: wild },
    { weight: 1, arbitrary: set },
  );
  const segment = fc.array(atom, { minLength: 1, maxLength: 2 }).map((atoms) => atoms.join(""));
  const path = fc.array(fc.oneof(segment, fc.constantFrom("**", "agents")), { minLength: 1, maxLength: 4 });
  const start = fc.constantFrom("", "", "", "", "/", "!", "!", "!/", "#", " ", "**/", "//", "\\");
  const end = fc.constantFrom("", "", "", "", "/", "/**", "/*", " ", "  ", "\\ ", "\t", "\\ \\", "//", "\0x");
  return fc.tuple(start, path, end).map(([before, segments, after]) => before + segments.join("/") + after);
}

/** Writes the tree without conflicting paths, and returns the number of files. */
function plant(root: string, files: readonly string[], ignoreFiles: Tree["ignoreFiles"]): number {
  mkdirSync(root);
  execFileSync("cp", ["-r", join(base, "template", ".git"), join(root, ".git")]);
  let written = 0;
  for (const path of new Set(files)) if (write(join(root, path), "")) written++;
  for (const [folder, content] of ignoreFiles) {
    const path = folder === ".git" ? ".git/info/exclude" : join(folder, ".gitignore");
    if (write(join(root, path), content) && /^(agents|workflows)\//.test(path)) written++;
  }
  return written;
}

/** Returns false when the path conflicts with an existing file or folder. */
function write(path: string, content: string): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}

function listedByGit(root: string): string[] {
  const listed = git(root, "ls-files", "-co", "--exclude-standard", "-z").split("\0");
  return listed.filter((path) => /^(agents|workflows)\//.test(path)).sort(comparePaths);
}

function git(cwd: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH, HOME: base, GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", args, { cwd, env, encoding: "utf8" });
}

test("has a git to compare with", () => {
  expect(git(base, "--version")).toMatch(/^git version/);
  expect(readFileSync(join(base, "template", ".git", "HEAD"), "utf8")).toMatch(/^ref:/);
});
