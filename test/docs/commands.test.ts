/** Every `svc` command of the documents exists, with its arguments and options. */
import { describe, expect, test } from "vitest";
import { commands, type Group, type Leaf } from "../../cli/app/command-table.ts";
import { find } from "../../cli/app/find-command.ts";
import { parseArguments } from "../../cli/app/parse-arguments.ts";
import { documentProse } from "../architecture/prose.ts";
import { type Block, blocksOf, commandsOf, pages } from "./blocks.ts";

/** The `svc` commands of a line of shell, as words. */
function svcCommands(line: string): string[][] {
  return line
    .split(/&&|\|\||[|;]|\$\(|\)(?=\s|$)/)
    .map((part) => words(part.trim().replace(/^(?:\w+=\S+ )+/, "")))
    .map((each) => (each[0] === "npx" || each[0] === "-" ? each.slice(1) : each))
    .filter(([program]) => program === "svc")
    .map((each) => each.slice(1).filter((word) => !/^<$/.test(word)));
}

/** Splits a command at spaces outside quotes, up to a redirection. */
function words(command: string): string[] {
  return [...command.replace(/\s[<>]\s.*$/, "").matchAll(/(?:"[^"]*"|'[^']*'|[^\s"']+)+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"),
  );
}

/** @throws UsageError when the command or one of its options does not exist */
async function parse(argv: readonly string[]): Promise<void> {
  let group: Group = { summary: "", commands };
  let rest = [...argv];
  for (;;) {
    const [first] = rest;
    if (rest.some((word) => word === "--help" || word === "--version")) return;
    const isNamed = first !== undefined && !first.startsWith("-");
    const found = isNamed
      ? find(group, first)
      : group.default === undefined
        ? null
        : find(group, group.default);
    if (found === null) throw new Error(`There is no command "svc ${argv.join(" ")}".`);
    if (isNamed) rest = rest.slice(1);
    const entry: Leaf | Group = found[1];
    if ("load" in entry) {
      const { default: command } = await entry.load();
      parseArguments(rest, command.args, `svc ${argv.join(" ")}`);
      return;
    }
    group = entry;
  }
}

describe("the parser of this test", () => {
  test("rejects unknown commands, options and surplus arguments", async () => {
    for (const line of [
      "svc pusch",
      "svc push --dryrun",
      "svc keys list more",
      "svc executions --state failed",
    ]) {
      const [argv = []] = svcCommands(line);
      await expect(parse(argv), line).rejects.toThrow();
    }
  });

  test("finds commands within lines of shell", () => {
    expect(svcCommands("A=b svc run x --data '{\"a\": 1}' | svc logs > file && npx svc push")).toEqual([
      ["run", "x", "--data", '{"a": 1}'],
      ["logs"],
      ["push"],
    ]);
    expect(svcCommands("url=$(svc webhook list --json | grep -o http)")).toEqual([
      ["webhook", "list", "--json"],
    ]);
  });
});

const shell = pages.flatMap(blocksOf).filter(({ language }) => language === "sh");
const lines = shell.flatMap((block: Block) => commandsOf(block).map((line) => ({ page: block.page, line })));

test("the commands of all code blocks exist", async () => {
  const all = lines.flatMap(({ page, line }) => svcCommands(line).map((argv) => ({ page, argv })));
  expect(all.length).toBeGreaterThan(150);
  for (const { page, argv } of all) await checked(page, argv);
});

test("the commands in the text exist", async () => {
  // docs/cli.md is generated from the definitions.
  const mentions = pages
    .filter((page) => page !== "docs/cli.md")
    .flatMap((page) =>
      documentProse(page).flatMap(({ text }) =>
        [...text.matchAll(/`((?:npx )?svc [a-z][^`]*)`/g)].map(([, line = ""]) => ({ page, line })),
      ),
    );
  expect(mentions.length).toBeGreaterThan(80);
  for (const { page, line } of mentions) {
    // A usage such as `svc executions show <id>`, or the name of a command such as `svc push`.
    for (const argv of svcCommands(line.replaceAll("…", "x").replaceAll(/[[\]]/g, ""))) {
      await checked(page, argv, true);
    }
  }
});

async function checked(page: string, argv: readonly string[], isName = false): Promise<void> {
  try {
    await parse(argv);
  } catch (error) {
    const message = (error as Error).message;
    // The name of a command alone stands for the command.
    if (isName && /is required|requires a value|^There is no command "svc admin"/.test(message)) return;
    // A placeholder such as `<id>` or `exe_…` stands for an ID.
    if (/must be \w{3}_ and 26 .*, not "(?:<[^"]*|x|\w{3}_[^"]{0,3})"/.test(message)) return;
    throw new Error(`${page}: svc ${argv.join(" ")}: ${message}`);
  }
}
