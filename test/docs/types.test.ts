/** Type-checks the TypeScript blocks of all documents, as modules of a project that depends on `svc`, and the examples. */
import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { bin, root } from "../support/runtimes.ts";
import { type Block, blocksOf, pages } from "./blocks.ts";

/** Declarations that the blocks of a page use and that an earlier block or the text introduces. On one line each. */
const preludes: Readonly<Record<string, string>> = {
  "docs/client.md":
    'import { createClient } from "svc/client"; const client = createClient({ baseUrl: "http://127.0.0.1:7070" });',
  "plugin/README.md": [
    'import type { Context } from "svc";',
    'import type { RestPlugin as Plugin } from "svc/plugin";',
    'import type OpenAI from "openai";',
    'import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";',
    'import type { Server } from "@modelcontextprotocol/sdk/server/index.js";',
    "declare const ctx: Context; declare const client: OpenAI; declare const model: string;",
    "declare const messages: OpenAI.ChatCompletionMessageParam[]; declare const server: Server;",
  ].join(" "),
};

/** Blocks that are not checked here. */
const notChecked: readonly (readonly [isExcluded: (block: Block) => boolean, reason: string])[] = [
  [({ text }) => text.includes("./schema.d.ts"), "needs the generated types; test/openapi compiles it"],
  [
    ({ page }) => page === "docs/typescript.md",
    "syntax that some runtimes reject; typescript.test.ts loads it",
  ],
];

const examples = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const compilerOptions = {
  target: "esnext",
  module: "nodenext",
  lib: ["esnext", "dom", "dom.iterable"],
  types: ["node"],
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true,
  resolveJsonModule: true,
  paths: {
    svc: [join(root, "project/authoring.ts")],
    "svc/client": [join(root, "client/index.ts")],
    "svc/plugin": [join(root, "plugin/index.ts")],
  },
};

test("the TypeScript blocks have no errors", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-blocks-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const blocks = pages
    .flatMap(blocksOf)
    .filter((block) => block.language === "ts" && !notChecked.some(([isExcluded]) => isExcluded(block)));
  expect(blocks.length).toBeGreaterThan(15);
  // A block that declares a module would change the types of all others: it has a program of its own.
  const programs = [
    blocks.filter(({ text }) => !text.includes("declare module")),
    ...blocks.filter(({ text }) => text.includes("declare module")).map((block) => [block]),
  ];
  const checks = programs.map(async (program, index) => {
    const base = join(folder, `program-${index}`);
    for (const block of program) write(join(base, pathOf(block)), sourceOf(block));
    writeFileSync(join(base, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
    return errorsOf(base);
  });
  expect((await Promise.all(checks)).join("")).toBe("");
});

test.each(examples)("%s has no type errors with its own tsconfig.json", async (name) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-example-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(root, "examples", name), folder, { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const config = JSON.parse(readFileSync(join(folder, "tsconfig.json"), "utf8")) as {
    compilerOptions: Record<string, unknown>;
  };
  expect(config.compilerOptions).toMatchObject({ strict: true, erasableSyntaxOnly: true });
  // The example finds `svc` in its node_modules; the test, in this checkout.
  config.compilerOptions.paths = compilerOptions.paths;
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  expect(await errorsOf(folder)).toBe("");
});

/** The errors of a TypeScript program. */
async function errorsOf(folder: string): Promise<string> {
  const { stdout } = await promisify(execFile)(bin("tsc"), ["-p", folder, "--pretty", "false"], {
    cwd: folder,
  }).catch((error: { stdout: string }) => error);
  return stdout;
}

/** Files of one page are in one folder, so that they can import each other. */
function pathOf({ page, line, file }: Block): string {
  return join(page.replace(/\.md$/, ""), file ?? `block-at-line-${line}.ts`);
}

function sourceOf(block: Block): string {
  const prelude = preludes[block.page] ?? "";
  if (block.page === "docs/client.md" && /\bconst client =/.test(block.text)) return block.text;
  const definesApi = /\bconst api =|\busing api =/.test(block.text);
  const plugin = block.page === "plugin/README.md" && !definesApi ? "declare const api: Plugin;" : "";
  return `${prelude} ${plugin} export {};\n${block.text}`;
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
