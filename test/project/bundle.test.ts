/** Bundles npm imports, deploys them without `node_modules`, and runs them on each runtime. */
import { createReadStream, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BundleCache } from "../../project/bundle/cache.ts";
import { packageLimits } from "../../project/limits.ts";
import { packFiles } from "../../project/pack.ts";
import { prepareProject } from "../../project/prepare.ts";
import { stageFiles } from "../../project/stage.ts";
import { unpackPackage } from "../../project/unpack.ts";
import { testFolder, writeFiles } from "./folder.ts";
import { modulesFolder, runModule, runtimes } from "./runtimes.ts";

/** A project with agents in `agents/<name>.ts`, its own packages, and packages of this repository. */
function writeProject(
  root: string,
  agents: Record<string, string>,
  packages: { own?: Record<string, string>; linked?: string[] } = {},
): void {
  const { own = {}, linked = [] } = packages;
  const names = Object.keys(own).map((path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? "");
  const dependencies = Object.fromEntries([...names, ...linked].map((name) => [name, "*"]));
  writeFiles(root, {
    "svc-project.yaml": `name: p\nversion: "1"\nagents:\n${Object.keys(agents)
      .map((name) => `  - name: ${name}\n`)
      .join("")}`,
    ".gitignore": "node_modules\n",
    "package.json": JSON.stringify({ dependencies }),
    ...Object.fromEntries(Object.entries(agents).map(([name, text]) => [`agents/${name}.ts`, text])),
    ...Object.fromEntries(Object.entries(own).map(([path, text]) => [`node_modules/${path}`, text])),
  });
  for (const name of linked) {
    mkdirSync(join(root, "node_modules", name, ".."), { recursive: true });
    symlinkSync(join(modulesFolder, name), join(root, "node_modules", name));
  }
}

async function prepared(
  root: string,
): Promise<Extract<Awaited<ReturnType<typeof prepareProject>>, { problems: [] }>> {
  const project = await prepareProject(root);
  expect(project.problems).toEqual([]);
  if (project.definition === null) throw new Error("there are problems");
  return project;
}

/** Unpacks the package to a folder outside of every `node_modules`. */
async function deployed(root: string): Promise<string> {
  const { files } = await prepared(root);
  const target = join(testFolder(), "package");
  const packed = await packFiles(files);
  await unpackPackage(createReadStream(packed.path), target, packageLimits);
  packed.remove();
  writeFileSync(join(target, "package.json"), '{ "type": "module" }\n');
  return target;
}

/** Runs each agent in its own process on one runtime, and returns the outputs. */
async function answers(
  runtime: (typeof runtimes)[number],
  folder: string,
  agents: readonly string[],
): Promise<unknown> {
  const main = join(folder, "main.mjs");
  const body = agents.map(
    (name) => `${JSON.stringify(name)}: await (await import("./agents/${name}.ts")).default()`,
  );
  writeFileSync(main, `console.log(JSON.stringify({ ${body.join(", ")} }));\n`);
  return JSON.parse(await runModule(runtime, main));
}

const real = {
  z: `import { z } from "zod"; import * as mini from "zod/v4/mini"; import type { ZodType } from "zod";
    const schema: ZodType = z.object({ a: z.string() });
    export default () => ({ ok: schema.parse({ a: "x" }), bad: schema.safeParse({}).error?.constructor.name, mini: mini.string().parse("y") });`,
  o: `import OpenAI, { APIConnectionError } from "openai"; import { zodResponseFormat } from "openai/helpers/zod"; import { z } from "zod";
    export default async () => {
      const client = new OpenAI({ apiKey: "k", baseURL: "http://127.0.0.1:1", maxRetries: 0 });
      const error = await client.models.list().catch((reason) => reason);
      return { name: error.constructor.name, same: error instanceof APIConnectionError, format: zodResponseFormat(z.object({ n: z.number() }), "n").type };
    };`,
  a: `import { generateText, tool } from "ai"; import * as testing from "ai/test"; import { z } from "zod";
    const add = tool({ description: "adds", inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 });
    export default async () => {
      const Model = testing.MockLanguageModelV4 ?? testing.MockLanguageModelV3;
      const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
      const model = new Model({ doGenerate: async () => ({ content: [{ type: "text", text: "hello" }], finishReason: { unified: "stop" }, usage, warnings: [] }) });
      return { text: (await generateText({ model, prompt: "hi", tools: { add } })).text, added: await add.execute({ a: 1 }, { toolCallId: "1", messages: [] }) };
    };`,
};

describe("bundles of zod, openai and ai", () => {
  test.each(runtimes)("run on %s without the original node_modules", async (runtime) => {
    const root = testFolder();
    writeProject(root, real, { linked: ["zod", "openai", "ai"] });
    const folder = await deployed(root);
    expect(await answers(runtime, folder, ["z", "o", "a"])).toEqual({
      z: { ok: { a: "x" }, bad: "ZodError", mini: "y" },
      o: { name: "APIConnectionError", same: true, format: "json_schema" },
      a: { text: "hello", added: 2 },
    });
  });

  test("contain each module once and leave the project's files unchanged", async () => {
    const root = testFolder();
    writeProject(root, real, { linked: ["zod", "openai", "ai"] });
    const { files, bundledCount } = await prepared(root);
    const bundled = files.filter(({ path }) => path.startsWith("node_modules/"));
    expect(bundled).toHaveLength(bundledCount);
    expect(files.filter(({ path }) => !path.startsWith("node_modules/")).map(({ path }) => path)).toEqual([
      "agents/a.ts",
      "agents/o.ts",
      "agents/z.ts",
      "svc-project.yaml",
    ]);
    const copies = bundled.filter(
      ({ content }) =>
        Buffer.from(content ?? []).includes("class ZodError") ||
        Buffer.from(content ?? []).includes('$constructor("ZodError"'),
    );
    expect(copies.length).toBe(1);
    const manifest = bundled.find(({ path }) => path === "node_modules/zod/package.json");
    expect(JSON.parse(String(manifest?.content && Buffer.from(manifest.content)))).toMatchObject({
      name: "zod",
      version: "4.6.7",
      type: "module",
      exports: { ".": "./index.mjs", "./v4/mini": "./v4/mini.mjs" },
    });
  });

  test("do not depend on the location of the project", async () => {
    const folder = testFolder();
    const digests: string[] = [];
    for (const place of ["a", "somewhere/else"]) {
      // Copies, because links would resolve to the same files.
      writeProject(
        join(folder, place),
        { m: 'import m from "cjs"; import { e } from "esm"; export default () => [m, e];' },
        {
          own: {
            "cjs/package.json": "{}",
            "cjs/index.js": "exports.a = require('./b'); exports.f = __filename;",
            "cjs/b.js": "module.exports = 1;",
            "esm/package.json": '{ "type": "module", "exports": "./e.js" }',
            "esm/e.js": 'export { a as e } from "cjs2"; export const u = import.meta.url;',
            "cjs2/package.json": "{}",
            "cjs2/index.js": "exports.a = 2;",
          },
        },
      );
      const packed = await packFiles((await prepared(join(folder, place))).files);
      packed.remove();
      digests.push(packed.digest);
    }
    expect(digests[0]).toBe(digests[1]);
  });
});

describe("CommonJS", () => {
  const own = {
    "plain/package.json": "{}",
    "plain/index.js":
      "exports.a = 1; exports['b-c'] = 2; exports.default = 3; exports.if = 4; exports.later = undefined;",
    "whole/package.json": '{ "main": "./lib/main.cjs" }',
    "whole/lib/main.cjs":
      "module.exports = function whole() {}; module.exports.helper = () => 1; module.exports.__esModule = true;",
    "again/package.json": "{}",
    "again/index.js": "module.exports = require('./inner'); exports.lost = 1;",
    "again/inner.js":
      "exports.x = 1; Object.defineProperty(exports, 'y', { enumerable: true, get() { return 2; } }); __exportStar(require('./star'), exports); function __exportStar(m, e) { for (const k in m) e[k] = m[k]; }",
    "again/star.js": "exports.star = 1;",
    "nothing/package.json": "{}",
    "nothing/index.js": "module.exports = null;",
    "text/package.json": "{}",
    "text/index.js": "exports.length = 1; module.exports = 'text';",
    "typeless/package.json": '{ "exports": { ".": "./index.js", "./sub": "./sub.js" } }',
    "typeless/index.js": "export const esm = true; export default 1;",
    "typeless/sub.js": "exports.sub = true;",
    "dual/package.json": '{ "exports": { "import": "./m.mjs", "require": "./c.cjs" } }',
    "dual/m.mjs": "export const kind = 'import';",
    "dual/c.cjs": "exports.kind = 'require'; exports.more = 1;",
    "@scope/name/package.json": "{}",
    "@scope/name/deep/file.js":
      "exports.deep = typeof __dirname + typeof __filename + typeof require('node:fs').readFileSync + typeof require('path').join;",
  };
  const specifiers = [
    "plain",
    "whole",
    "again",
    "nothing",
    "text",
    "typeless",
    "typeless/sub",
    "dual",
    "@scope/name/deep/file.js",
    "yaml",
    "protobufjs",
    "long",
  ];
  // `arguments` differ, functions and objects are told by what they are.
  const show = `const show = (value) => typeof value === "function" ? "function" : typeof value === "object" && value !== null ? "object" : value === undefined ? "undefined" : value;
    const shape = (module) => Object.fromEntries(Object.keys(module).sort().map((name) => [name, show(module[name])]));`;

  test.each(runtimes)("has the exports of Node on %s", async (runtime) => {
    const root = testFolder();
    const imports = specifiers.map(
      (specifier, index) => `import * as m${index} from ${JSON.stringify(specifier)};`,
    );
    const shapes = specifiers.map((specifier, index) => `${JSON.stringify(specifier)}: shape(m${index})`);
    const agent = `${imports.join("\n")}\n${show}\nexport default () => ({ ${shapes.join(", ")} });`;
    writeProject(root, { m: agent }, { own, linked: ["yaml", "protobufjs", "long"] });
    writeFiles(root, {
      "expected.mjs": `${agent.replace("export default () =>", "const shapes =")}\nconsole.log(JSON.stringify(shapes));`,
    });
    const expected = JSON.parse(await runModule("node", join(root, "expected.mjs")));
    expect(Object.keys(expected.plain)).toEqual(["a", "b-c", "default", "if", "later", "module.exports"]);
    expect(Object.keys(expected.yaml).length).toBeGreaterThan(30);
    const found = (await answers(runtime, await deployed(root), ["m"])) as { m: unknown };
    expect(found.m).toEqual(expected);
  });

  test("resolves late and optional requires at run time", async () => {
    const root = testFolder();
    writeProject(
      root,
      {
        m: 'import m from "tries"; export default async () => [m.found, m.code, await m.late(), m.dynamic("node:os")];',
      },
      {
        own: {
          "tries/package.json": "{}",
          "tries/index.js": `try { require("not-there"); exports.found = true; } catch (error) { exports.found = false; exports.code = error.code; }
            exports.late = async () => { try { await import("nor-this"); } catch (error) { return "late"; } };
            exports.dynamic = (name) => typeof require(name).cpus;`,
        },
      },
    );
    const folder = await deployed(root);
    for (const runtime of runtimes)
      expect(await answers(runtime, folder, ["m"])).toEqual({
        m: [false, "MODULE_NOT_FOUND", "late", "function"],
      });
  });
});

test("keeps JSON of packages as JSON", async () => {
  const root = testFolder();
  writeProject(
    root,
    { m: 'import data from "data/x.json" with { type: "json" }; export default () => data;' },
    {
      own: { "data/package.json": "{}", "data/x.json": '{ "a": [1] }' },
    },
  );
  const folder = await deployed(root);
  for (const runtime of runtimes) expect(await answers(runtime, folder, ["m"])).toEqual({ m: { a: [1] } });
});

test("does not bundle modules of Node and svc", async () => {
  const root = testFolder();
  writeProject(root, {
    m: 'import { defineAgent } from "svc"; import "svc/plugin"; import fs from "node:fs"; import * as path from "path"; export default defineAgent(() => [fs, path]);',
  });
  const { files, bundledCount } = await prepared(root);
  expect(bundledCount).toBe(0);
  expect(files.map(({ path }) => path)).toEqual(["agents/m.ts", "svc-project.yaml"]);
});

test("bundles a workspace package from its sources", async () => {
  const folder = testFolder();
  const root = join(folder, "project");
  writeFiles(folder, {
    "shared/package.json": '{ "name": "@acme/shared", "type": "module", "exports": "./src/index.ts" }',
    "shared/src/index.ts":
      "import { FinalError } from 'svc'; enum Colour { Red = 'red' } export const red: Colour = Colour.Red; export type T = FinalError;",
  });
  writeProject(
    root,
    { m: 'import { red } from "@acme/shared"; export default () => red;' },
    { own: { "@acme/shared/x": "" } },
  );
  const modules = join(root, "node_modules", "@acme");
  mkdirSync(join(root, "real"), { recursive: true });
  symlinkSync(join(folder, "shared"), join(modules, "linked"));
  writeFiles(root, {
    "package.json": '{ "dependencies": { "@acme/linked": "*" } }',
    "agents/m.ts": 'import { red } from "@acme/linked"; export default () => red;',
  });
  const staged = join(testFolder(), "staged");
  await stageFiles((await prepared(root)).files, staged);
  writeFiles(staged, { "package.json": '{ "type": "module" }' });
  expect(await answers("node", staged, ["m"])).toEqual({ m: "red" });
});

test("a cache keeps the bundle until the imports or the installed packages change", async () => {
  const root = testFolder();
  const manifest = '{ "name": "own", "type": "module", "exports": { ".": "./a.js", "./b": "./b.js" } }';
  const own = {
    "own/package.json": manifest,
    "own/a.js": "export default 1;",
    "own/b.js": "export default 2;",
  };
  const agent = (path: string, value: string) =>
    `import value from "${path}";\nexport default () => [value, ${value}];\n`;
  writeProject(root, { one: agent("own", "1") }, { own });
  const cache = new BundleCache();
  const bundle = async (): Promise<Map<string, unknown>> => {
    const { files, problems } = await prepareProject(root, cache);
    expect(problems).toEqual([]);
    return new Map(files.filter(({ content }) => content !== undefined).map((file) => [file.path, file]));
  };
  const first = await bundle();
  expect(first.size).toBeGreaterThan(0);
  writeFiles(root, { "agents/one.ts": agent("own", "2") });
  for (const [path, file] of await bundle()) expect(first.get(path)).toBe(file);

  writeFiles(root, { "agents/one.ts": agent("own/b", "2") });
  const other = await bundle();
  expect([...other.keys()]).not.toEqual([...first.keys()]);
  writeFiles(root, { "package-lock.json": "{}" });
  const installed = await bundle();
  expect([...installed.keys()]).toEqual([...other.keys()]);
  for (const [path, file] of installed) expect(other.get(path)).not.toBe(file);
  cache.clear();
  for (const [path, file] of await bundle()) expect(installed.get(path)).not.toBe(file);
});
