/**
 * Runs the pages of the user's guide. Each page is a script for a new folder: blocks whose first line names a file are
 * written, then the shell blocks are run from top to bottom. A text block shows parts of the output before it.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { bareEnvironment, bin, root } from "../support/runtimes.ts";
import { useServer } from "../support/suite.ts";
import { type Block, blocksOf, commandsOf, pages } from "./blocks.ts";
import { notRun, parsedPages } from "./not-run.ts";

/** It starts commands fastest: the pages run some two hundred. */
const runtime = "bun";
const server = useServer(runtime);

const scripts = pages.filter(
  (page) =>
    !parsedPages.some(([pattern]) => pattern.test(page)) &&
    blocksOf(page).some(({ language }) => language === "sh"),
);

test("the guide has pages that are run, and every exception applies", () => {
  expect(scripts).toEqual(expect.arrayContaining(["docs/getting-started.md", "docs/workflows.md"]));
  const all = pages.flatMap(blocksOf).filter(({ language }) => language === "sh");
  for (const [pattern] of parsedPages)
    expect(
      pages.some((page) => pattern.test(page)),
      String(pattern),
    ).toBe(true);
  const lines = all.flatMap(commandsOf);
  const unused = notRun.filter(([pattern]) => !lines.some((line) => pattern.test(line)));
  expect(unused.map(([pattern]) => String(pattern))).toEqual([]);
});

// The pages share the organization of the server: one after the other.
test.each(scripts)("%s runs as it is written", async (page) => {
  const folder = mkdtempSync(join(tmpdir(), "svc-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const launcher = join(root, "cli/launcher.js");
  mkdirSync(join(folder, ".bin"));
  // Without a terminal `svc push` requires --yes.
  writeFileSync(
    join(folder, ".bin", "svc"),
    `#!/bin/sh\ncase "$1" in push) shift; set -- push --yes "$@";; esac\nexec '${bin(runtime)}' '${launcher}' "$@"\n`,
    { mode: 0o755 },
  );
  const project = join(folder, "project");
  mkdirSync(project);
  const env = {
    ...bareEnvironment(),
    PATH: `${join(folder, ".bin")}${delimiter}${bin("")}${delimiter}${process.env.PATH}`,
    SVC_API_KEY: server.apiKey,
    SVC_BASE_URL: server.url,
  };
  const state = join(folder, "state");
  writeFileSync(state, "");
  let output = "";
  const blocks = blocksOf(page);
  for (const { file, text } of blocks) if (file !== null) write(join(project, file), text);
  for (const { text } of blocks)
    for (const [, name = ""] of text.matchAll(/^npm install (\w+)$/gm)) install(project, name);
  for (const block of blocks) {
    if (block.language === "text") expectParts(block, output);
    else if (block.language === "sh") {
      const lines = commandsOf(block).filter((line) => !notRun.some(([pattern]) => pattern.test(line)));
      // Variables and the folder remain for the next block.
      const script = [
        `cd '${project}'`,
        `. '${state}'`,
        "set -e",
        ...lines,
        `{ echo "cd '$PWD'"; set | grep '^url='; } > '${state}' || true`,
      ];
      output = await run(block, script.join("\n"), env);
    }
  }
});

/** Makes a package of this checkout available without a registry. */
function install(project: string, name: string): void {
  write(join(project, "package.json"), JSON.stringify({ type: "module", dependencies: { [name]: "*" } }));
  mkdirSync(join(project, "node_modules"));
  symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name));
}

async function run(block: Block, script: string, env: Record<string, string>): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", `exec 2>&1\n${script}`], { env });
    return stripVTControlCharacters(stdout);
  } catch (error) {
    throw new Error(
      `${block.page}:${block.line} failed:\n${script}\n${(error as { stdout: string }).stdout}`,
    );
  }
}

/** Each line is somewhere in the output, in this order; the width of white space does not matter. */
function expectParts(block: Block, output: string): void {
  let rest = output.replaceAll(/\s+/g, " ");
  for (const line of block.text.trim().split("\n")) {
    const pattern = line
      .trim()
      .split(/\s+/)
      .map((word) =>
        word
          .split("…")
          .map((part) => RegExp.escape(part))
          .join("\\S*"),
      )
      .join("\\s+");
    const match = new RegExp(pattern).exec(rest);
    expect(match, `${block.page}:${block.line}: "${line}" in\n${output}`).not.toBeNull();
    rest = rest.slice((match?.index ?? 0) + (match?.[0].length ?? 0));
  }
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
