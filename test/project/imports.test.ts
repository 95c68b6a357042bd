/** Reports invalid imports and other problems of a project with file and line. */
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

describe("imports", () => {
  const declared = { ...modules, "package.json": '{ "devDependencies": { "there": "*", "gone": "*" } }' };
  const cases: [
    what: string,
    line: string,
    expected: string | RegExp | null,
    more?: Record<string, string>,
  ][] = [
    [
      "of an ignored file outside of the two folders",
      'import "../lib/x.local.ts";',
      'cannot import "../lib/x.local.ts": lib/x.local.ts does not exist or is ignored by .gitignore',
      { "lib/x.local.ts": "" },
    ],
    [
      "outside of the two folders, without an extension",
      'import "../lib/x";',
      'cannot import "../lib/x": write "../lib/x.ts"',
      { "lib/x.ts": "" },
    ],
    ["of a hidden file", 'import "../.config/x.ts";', /files in \.config are not deployed/],
    [
      "of a path into node_modules",
      'import "../node_modules/there/index.js";',
      /files in node_modules are not/,
    ],
    [
      "outside of the project",
      'import "../../x.ts";',
      'cannot import "../../x.ts": it leaves the project, and only files of the project are deployed',
    ],
    [
      "of the project file's folder",
      'import data from "../package.json" with { type: "json" };',
      /the package\.json of the project is not deployed/,
    ],
    ["of an absolute path", 'import "/etc/x.ts";', /"\/etc\/x.ts": it leaves/],
    [
      "of a file URL",
      'import "file:///x.ts";',
      /only relative paths, packages in node_modules and modules of Node/,
    ],
    [
      "of a network URL",
      'import "https://example.com/x.ts";',
      /only relative paths, packages in node_modules/,
    ],
    [
      "with a scheme of Deno",
      'import "npm:zod@4";',
      /"npm:zod@4": only packages in node_modules are deployed; install it there/,
    ],
    ["from Bun", 'import "bun:sqlite";', /only relative paths/],
    [
      "through the imports map of package.json",
      'import "#lib";',
      /the package\.json that defines # imports is not deployed/,
    ],
    [
      "of a missing file",
      'import "./gone.ts";',
      'cannot import "./gone.ts": agents/gone.ts does not exist or is ignored by .gitignore',
    ],
    ["of an ignored file", 'import "./x.local.ts";', /ignored by \.gitignore/, { "agents/x.local.ts": "" }],
    ["without an extension", 'import "./b";', 'cannot import "./b": write "./b.ts"', { "agents/b.ts": "" }],
    [
      "with the extension of the compiled file",
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
      "of a file that is not a module",
      'import x from "./page.html";',
      /cannot import "agents\/page.html": modules are \.ts/,
      { "agents/page.html": "" },
    ],
    [
      "of an unknown package",
      'import "nowhere";',
      'cannot import "nowhere": no such package is installed; add it to package.json and install it',
    ],
    [
      "of a declared package that is not installed",
      'import "gone";',
      'cannot import "gone": gone is not found in node_modules; install the project\'s dependencies',
    ],
    [
      "of a package that deno.json names and that is not in node_modules",
      'import "far";',
      'cannot import "far": far is not found in node_modules; set "nodeModulesDir" to "auto" in deno.json and run `deno install`',
      { "deno.jsonc": '{ "imports": { "far": "npm:far@1", } } // Deno' },
    ],
    [
      "of an installed package that deno.json names",
      'import "hidden";',
      null,
      { "node_modules/hidden/index.js": "", "deno.json": '{ "imports": { "hidden": "npm:hidden@1" } }' },
    ],
    ["of a part that a package does not have", 'import "there/part";', /there with \.\/part is not found/],
    [
      "of an undeclared package",
      'import "hidden";',
      'cannot import "hidden": package.json does not name hidden among its dependencies',
      { "node_modules/hidden/index.js": "" },
    ],
    [
      "of an unknown module of svc",
      'import "svc/server";',
      /svc has no such module, only svc and svc\/plugin/,
    ],
    ["when it is called", 'export const late = () => import("nowhere");', /"nowhere": no such package/],
    ["that only exports further", 'export { a } from "nowhere";', /"nowhere": no such package/],
    ["of types without the keyword type", 'import { type A } from "nowhere";', /"nowhere": no such package/],
    ["of types alone", 'import type { A } from "nowhere"; export type { B } from "neither";', null],
    ["in a comment", '// import "nowhere"', null],
    ["of what is computed", "export const late = (name: string) => import(name);", null],
    ["with a query and percent-encoding", 'import "./b%20c.ts?fresh#1";', null, { "agents/b c.ts": "" }],
    ["of a neighbour folder", 'import "../workflows/w.ts";', null, { "workflows/w.ts": "" }],
    [
      "of a package and a module of Node",
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
    // The column of the quotation mark, in UTF-16 units.
    expect(`  ${line}`[Number(place?.[1]) - 1]).toBe('"');
  });

  test("reports every problem in the file of the import, at any depth", async () => {
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
      'agents/two.mjs:1:19: cannot import "../up.ts": up.ts does not exist or is ignored by .gitignore',
    ]);
  });

  test("of files in other folders of the project add these to the package, with their own imports", async () => {
    const root = testFolder();
    writeFiles(root, {
      ...declared,
      "svc-project.yaml": 'name: p\nversion: "1"\nagents: [{ name: a }]\n',
      ".gitignore": "node_modules\n",
      "agents/a.ts": 'import "../lib/one.ts";\nimport "../top.ts";\n',
      "lib/one.ts": 'import "./deep/two.ts";\nimport data from "../data/x.json" with { type: "json" };\n',
      "lib/deep/two.ts": 'import "there";\nimport "../../agents/b.ts";\n',
      "lib/unused.ts": "",
      "data/x.json": "{}",
      "agents/b.ts": "",
      "top.ts": "",
    });
    const { files, problems } = await prepareProject(root);
    expect(problems).toEqual([]);
    expect(files.map(({ path }) => path).filter((path) => !path.startsWith("node_modules/"))).toEqual([
      "agents/a.ts",
      "agents/b.ts",
      "data/x.json",
      "lib/deep/two.ts",
      "lib/one.ts",
      "svc-project.yaml",
      "top.ts",
    ]);
    expect(files.map(({ path }) => path)).toContain("node_modules/there/index.mjs");
  });

  test("rejects two copies of one package", async () => {
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
      /^agents\/(a|b\/index)\.ts:1:8: cannot import "there": it resolves to a different copy than the import in agents\/(a|b\/index)\.ts$/,
    );
  });
});

describe("rejects a package", () => {
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

  test("that is an addon", async () => {
    const found = await complaints({
      ...base,
      "node_modules/outer/package.json": '{ "main": "build/outer.node" }',
      "node_modules/outer/build/outer.node": "\x7fELF",
    });
    expect(found).toEqual([
      'agents/a.ts:1:15: cannot import "outer": it is a native addon, which cannot be deployed',
    ]);
  });

  test("that loads an addon", async () => {
    const found = await complaints({
      ...base,
      ...outer("module.exports = require('./deep');"),
      "node_modules/outer/deep.js": "module.exports = require('./x.node');",
      "node_modules/outer/x.node": "\x7fELF",
    });
    expect(found).toHaveLength(1);
    expect(found[0]?.startsWith(addon)).toBe(true);
  });

  test("that looks for an addon at run time", async () => {
    const found = await complaints({
      ...base,
      ...outer("module.exports = require('bindings')('outer');"),
      "node_modules/bindings/index.js": "module.exports = () => {};",
    });
    expect(found).toHaveLength(1);
    expect(found[0]?.startsWith(addon)).toBe(true);
  });

  test("unless it has a fallback for its addon", async () => {
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

  test("with a missing dependency", async () => {
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

  test("with a syntax error", async () => {
    const found = await complaints({ ...base, ...outer("exports.a = ;") });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(
      /^agents\/a\.ts:1:15: cannot import "outer": Unexpected ";" \(node_modules\/outer\/index\.js:1\)$/,
    );
  });

  test("that is not a module", async () => {
    const found = await complaints({
      ...base,
      "node_modules/outer/package.json": '{ "main": "outer.wasm" }',
      "node_modules/outer/outer.wasm": "\0asm",
    });
    expect(found).toEqual(['agents/a.ts:1:15: cannot import "outer": it is neither a module nor JSON']);
  });
});

describe("a project", () => {
  test("needs a project file", async () => {
    const { problems } = await prepareProject(testFolder());
    expect(problems.map((problem) => formatProblem(problem.file, problem))).toEqual([
      "svc-project.yaml: there is no such file in this folder",
    ]);
  });

  test("reports invalid links and an invalid project file together", async () => {
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

  test("may have no targets, or a link as a module", async () => {
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

  test("can be prepared concurrently", async () => {
    const all = await Promise.all(
      Array.from({ length: 5 }, () => complaints({ "agents/a.ts": 'import "nowhere";' })),
    );
    expect(all.map((found) => found.length)).toEqual([1, 1, 1, 1, 1]);
  });
});
