/** Imports that cannot be deployed, and projects that are wrong in other ways: each with its file and line. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { prepareProject } from "../../project/prepare.ts";
import { formatProblem } from "../../project/problem.ts";
import { testFolder, writeFiles } from "./folder.ts";

async function complaints(files: Record<string, string>): Promise<string[]> {
  const root = testFolder();
  writeFiles(root, {
    "svc-project.yaml": 'name: p\nversion: "1"\nagents: [{ name: a }]\n',
    ".gitignore": "node_modules\n*.local.ts\n",
    ...files,
  });
  const { problems, definition } = await prepareProject(root);
  expect(definition === null).toBe(problems.length > 0);
  return problems.map((problem) => formatProblem(problem.file, problem).split("\n", 1)[0] ?? "");
}

const modules = { "node_modules/there/index.js": "exports.a = 1;", "node_modules/there/package.json": "{}" };

describe("an import", () => {
  const declared = { ...modules, "package.json": '{ "devDependencies": { "there": "*", "gone": "*" } }' };
  const cases: [
    what: string,
    line: string,
    expected: string | RegExp | null,
    more?: Record<string, string>,
  ][] = [
    [
      "that leaves the folders",
      'import "../lib/x.ts";',
      'cannot import "../lib/x.ts": it leaves agents/ and workflows/, and only these are deployed',
      { "lib/x.ts": "" },
    ],
    [
      "that leaves the project",
      'import "../../x.ts";',
      'cannot import "../../x.ts": it leaves agents/ and workflows/, and only these are deployed',
    ],
    [
      "of the project file's folder",
      'import data from "../package.json" with { type: "json" };',
      /leaves agents\/ and workflows\//,
    ],
    ["of an absolute path", 'import "/etc/x.ts";', /"\/etc\/x.ts": it leaves/],
    [
      "of a file URL",
      'import "file:///x.ts";',
      /only relative paths, packages of node_modules and modules of Node/,
    ],
    [
      "from the network",
      'import "https://example.com/x.ts";',
      /only relative paths, packages of node_modules/,
    ],
    [
      "as Deno writes them",
      'import "npm:zod@4";',
      /"npm:zod@4": only packages of node_modules are deployed; install it there/,
    ],
    ["from Bun", 'import "bun:sqlite";', /only relative paths/],
    [
      "by the project's own map",
      'import "#lib";',
      /the package\.json that gives # its meaning is not deployed/,
    ],
    [
      "of nothing",
      'import "./gone.ts";',
      'cannot import "./gone.ts": there is no agents/gone.ts, or .gitignore keeps it from being deployed',
    ],
    ["of what is ignored", 'import "./x.local.ts";', /\.gitignore keeps it/, { "agents/x.local.ts": "" }],
    ["without an extension", 'import "./b";', 'cannot import "./b": write "./b.ts"', { "agents/b.ts": "" }],
    [
      "with the extension of what it is compiled to",
      'import "./b.js";',
      'cannot import "./b.js": write "./b.ts"',
      { "agents/b.ts": "" },
    ],
    [
      "of a folder",
      'import "./deep";',
      'cannot import "./deep": write "./deep/index.js"',
      { "agents/deep/index.js": "" },
    ],
    [
      "of a file that is no module",
      'import x from "./page.html";',
      /cannot import "agents\/page.html": modules are \.ts/,
      { "agents/page.html": "" },
    ],
    [
      "of a package that is not there",
      'import "nowhere";',
      'cannot import "nowhere": no such package is installed; add it to package.json and install it',
    ],
    [
      "of a package that is declared and not there",
      'import "gone";',
      'cannot import "gone": gone is not found in node_modules; install the project\'s dependencies',
    ],
    ["of a part that a package does not have", 'import "there/part";', /there with \.\/part is not found/],
    [
      "of a package that is not declared",
      'import "hidden";',
      'cannot import "hidden": package.json does not name hidden among its dependencies',
      { "node_modules/hidden/index.js": "" },
    ],
    [
      "of a part of svc that is none",
      'import "svc/server";',
      /svc has no such part, only svc and svc\/plugin/,
    ],
    ["when it is called", 'export const late = () => import("nowhere");', /"nowhere": no such package/],
    ["that only exports further", 'export { a } from "nowhere";', /"nowhere": no such package/],
    [
      "of types alone, with a trace left of it",
      'import { type A } from "nowhere";',
      /"nowhere": no such package/,
    ],
    ["of types alone", 'import type { A } from "nowhere"; export type { B } from "neither";', null],
    ["in a comment", '// import "nowhere"', null],
    ["of what is computed", "export const late = (name: string) => import(name);", null],
    ["with a query and percent-encoding", 'import "./b%20c.ts?fresh#1";', null, { "agents/b c.ts": "" }],
    ["of a neighbour folder", 'import "../workflows/w.ts";', null, { "workflows/w.ts": "" }],
    [
      "of a package and of what Node has",
      'import "there"; import "node:fs"; import "fs/promises"; import "svc";',
      null,
    ],
  ];
  test.each(cases)("%s", async (_, line, expected, more = {}) => {
    const found = await complaints({
      ...declared,
      ...more,
      "agents/a.ts": `// first line\n  ${line}\nexport default () => 1;\n`,
    });
    if (expected === null) return expect(found).toEqual([]);
    expect(found).toHaveLength(1);
    const place = /^agents\/a\.ts:2:(\d+): (.*)$/.exec(found[0] ?? "");
    expect(place, found[0]).not.toBeNull();
    if (typeof expected === "string") expect(place?.[2]).toBe(expected);
    else expect(place?.[2]).toMatch(expected);
    if (/unreadable|page/.test(line)) return;
    // The column is that of the specifier's quotation mark, in UTF-16 units.
    expect(`  ${line}`[Number(place?.[1]) - 1]).toBe('"');
  });

  test("is named in the file that has it, through any number of files, with all others", async () => {
    const found = await complaints({
      ...declared,
      "svc-project.yaml": 'name: p\nversion: "1"\nagents: [{ name: a }, { name: b }]\n',
      "agents/a.ts": 'import "./one.ts";\nimport "nowhere";\n',
      "agents/one.ts": 'import "./two.mjs";\nimport "./a.ts";\n',
      "agents/two.mjs": '/* ä 😀 */ import "../up.ts";\n',
      "agents/b.ts": "const broken = ;\n",
      "agents/unused.ts": 'import "nowhere-either";\n',
    });
    expect(found.toSorted()).toEqual([
      'agents/a.ts:2:8: cannot import "nowhere": no such package is installed; add it to package.json and install it',
      'agents/b.ts:1:16: Unexpected ";"',
      'agents/two.mjs:1:19: cannot import "../up.ts": it leaves agents/ and workflows/, and only these are deployed',
    ]);
  });

  test("of two copies of one package is refused", async () => {
    const found = await complaints({
      ...declared,
      "svc-project.yaml": 'name: p\nversion: "1"\nagents: [{ name: a }, { name: b }]\n',
      ".gitignore": "node_modules\n",
      "agents/a.ts": 'import "there";\n',
      "agents/b/index.ts": 'import "there";\n',
      "agents/b/node_modules/there/index.js": "exports.a = 2;",
    });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(
      /^agents\/(a|b\/index)\.ts:1:8: cannot import "there": it is another copy than the one that agents\/(a|b\/index)\.ts imports$/,
    );
  });
});

describe("a package that cannot be deployed", () => {
  const base = {
    "package.json": '{ "dependencies": { "outer": "*" } }',
    "agents/a.ts": 'import x from "outer";\nexport default () => x;\n',
  };
  const outer = (text: string): Record<string, string> => ({
    "node_modules/outer/package.json": "{}",
    "node_modules/outer/index.js": text,
  });
  const addon =
    'agents/a.ts:1:15: cannot import "outer": it needs a native addon, which cannot be deployed (node_modules/';

  test("because it is an addon", async () => {
    const found = await complaints({
      ...base,
      "node_modules/outer/package.json": '{ "main": "build/outer.node" }',
      "node_modules/outer/build/outer.node": "\x7fELF",
    });
    expect(found).toEqual([
      'agents/a.ts:1:15: cannot import "outer": it is a native addon, which cannot be deployed',
    ]);
  });

  test("because it loads one", async () => {
    const found = await complaints({
      ...base,
      ...outer("module.exports = require('./deep');"),
      "node_modules/outer/deep.js": "module.exports = require('./x.node');",
      "node_modules/outer/x.node": "\x7fELF",
    });
    expect(found).toHaveLength(1);
    expect(found[0]?.startsWith(addon)).toBe(true);
  });

  test("because it looks for one at run time", async () => {
    const found = await complaints({
      ...base,
      ...outer("module.exports = require('bindings')('outer');"),
      "node_modules/bindings/index.js": "module.exports = () => {};",
    });
    expect(found).toHaveLength(1);
    expect(found[0]?.startsWith(addon)).toBe(true);
  });

  test("unless it has something else to fall back on", async () => {
    const text =
      "try { module.exports = require('node-gyp-build')(__dirname); } catch { module.exports = require('./fallback'); }";
    const found = await complaints({
      ...base,
      ...outer(text),
      "node_modules/outer/fallback.js": "module.exports = 1;",
      "node_modules/node-gyp-build/index.js": "module.exports = () => { throw new Error('none'); };",
    });
    expect(found).toEqual([]);
  });

  test("because what it needs is not installed", async () => {
    const found = await complaints({
      ...base,
      "node_modules/outer/package.json": '{ "type": "module", "main": "index.js" }',
      "node_modules/outer/index.js": 'import gone from "gone"; export default gone;',
    });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(
      /^agents\/a\.ts:1:15: cannot import "outer": it needs "gone", which is not found in node_modules \(node_modules\/outer\/index\.js:1\)$/,
    );
  });

  test("because it is broken", async () => {
    const found = await complaints({ ...base, ...outer("exports.a = ;") });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(
      /^agents\/a\.ts:1:15: cannot import "outer": Unexpected ";" \(node_modules\/outer\/index\.js:1\)$/,
    );
  });

  test("because it is no module", async () => {
    const found = await complaints({
      ...base,
      "node_modules/outer/package.json": '{ "main": "outer.wasm" }',
      "node_modules/outer/outer.wasm": "\0asm",
    });
    expect(found).toEqual(['agents/a.ts:1:15: cannot import "outer": it is no module and no JSON']);
  });
});

describe("a project", () => {
  test("without a project file", async () => {
    const { problems } = await prepareProject(testFolder());
    expect(problems.map((problem) => formatProblem(problem.file, problem))).toEqual([
      "svc-project.yaml: there is no such file in this folder",
    ]);
  });

  test("with links that leave it and mistakes in its file shows both", async () => {
    const root = testFolder();
    writeFiles(root, { "svc-project.yaml": "name: p\nversion: 1\n" });
    mkdirSync(join(root, "agents"));
    symlinkSync("/etc/passwd", join(root, "agents/passwd"));
    const { problems } = await prepareProject(root);
    expect(problems.map(({ file, line }) => `${file}:${line}`)).toEqual([
      "agents/passwd:0",
      "svc-project.yaml:2",
    ]);
  });

  test("with neither agents nor workflows is right, and so is one whose module is a link", async () => {
    expect(await complaints({ "svc-project.yaml": 'name: p\nversion: "1"\n' })).toEqual([]);
    const root = testFolder();
    writeFiles(root, {
      "svc-project.yaml": 'name: p\nversion: "1"\nagents: [{ name: a }]\n',
      "src/a.ts": 'import "./b.ts";',
      "agents/b.ts": "",
    });
    symlinkSync("../src/a.ts", join(root, "agents/a.ts"));
    expect((await prepareProject(root)).problems).toEqual([]);
  });

  test("is prepared many times at once", async () => {
    const all = await Promise.all(
      Array.from({ length: 5 }, () => complaints({ "agents/a.ts": 'import "nowhere";' })),
    );
    expect(all.map((found) => found.length)).toEqual([1, 1, 1, 1, 1]);
  });
});
