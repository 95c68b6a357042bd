/** Line breaks at words on a terminal. */
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { stepLines } from "../../cli/terminal/steps.ts";
import { detailLines, wrap, wrapWords } from "../../cli/terminal/wrap.ts";
import { commandRuntimes } from "../support/runtimes.ts";
import { svcOnTerminal, temporaryFolder } from "./support.ts";

const terminal = { isTTY: true, columns: 40 } as const;
const file = { isTTY: false, columns: 40 } as unknown as NodeJS.WriteStream;
const text = "The webhook one/two rejects all requests: the secret is not set.";

test("wraps at words, indents to the text, and wraps nothing in a file", () => {
  expect(wrap(text, 9, terminal).split("\n")).toEqual([
    "The webhook one/two rejects all",
    "         requests: the secret is not",
    "         set.",
  ]);
  expect(wrap(text, 9, file)).toBe(text);
  expect(wrap(text, 30, terminal)).toBe(text);
});

test("keeps URLs and commands whole, and an open backtick is no command", () => {
  expect(wrapWords("Run `svc secrets set HOOK` at http://127.0.0.1:7070/webhook now.", 20)).toEqual([
    "Run",
    "`svc secrets set HOOK`",
    "at",
    "http://127.0.0.1:7070/webhook",
    "now.",
  ]);
  expect(wrapWords(`a \` ${"word ".repeat(20)}end`, 20).every((line) => line.length <= 20)).toBe(true);
});

test("wraps the message of a detail and keeps its source code", () => {
  const source = `  9 | ${"x".repeat(60)}`;
  expect(detailLines(`${text}\n${source}`, 2, terminal).split("\n")).toEqual([
    "  The webhook one/two rejects all",
    "    requests: the secret is not set.",
    `  ${source}`,
  ]);
});

test("purposes of commands are above them on a narrow terminal", () => {
  const plain = { dim: (each: string) => each };
  const steps = [["svc push", "deploys to the service"] as const, ["cd a", ""] as const];
  expect(stepLines(steps, 80, plain)).toEqual(["svc push  deploys to the service", "cd a"]);
  expect(stepLines(steps, 30, plain)).toEqual(["# deploys to the service", "svc push", "cd a"]);
});

test.each(commandRuntimes("node"))("an error and its hint fit a terminal with svc on %s", async (runtime) => {
  const cwd = await temporaryFolder();
  const { screen } = await svcOnTerminal(runtime, ["push"], { cwd, columns: 50 });
  const lines = stripVTControlCharacters(screen).replaceAll("\r", "").trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(2);
  expect(lines.every((line) => line.length <= 50 && /^(error: |hint: {2}| {7})\S/.test(line))).toBe(true);
});
