/**
 * Answers the shell's question for the next word. The script that `svc completion` prints runs `svc complete -- <words>`.
 */
import { type OptionHandler, RootCommand } from "@bomb.sh/tab";
import type { Command } from "../app/command.ts";
import { commands, type Group, type Leaf } from "../app/command-table.ts";
import { find } from "../app/find-command.ts";
import { print } from "../terminal/output.ts";
import { targetNames } from "./target-names.ts";

/** The names of positional arguments that are agents or workflows of the project in this folder. */
const targetArguments = new Set(["svc run name", "svc test name"]);

/** The hints of options whose values are files or folders. */
const fileHints = new Set(["file", "json|file", "folder", "dir"]);
/** The answer to the shell that it is to suggest files. */
const suggestFiles = ":0";

/** Prints the suggestions for the last one of the words. */
export async function complete(words: readonly string[]): Promise<void> {
  const root = new RootCommand();
  addNames(root, "", { summary: "", commands });
  const typed = await typedCommand(words);
  if (typed !== null && takesFile(typed.command, typed.rest)) return print(suggestFiles);
  if (typed !== null) await addArguments(root, typed.path, typed.command);
  root.option("help", "Print the help");
  root.parse(typed === null ? [...words] : [...typed.path.split(" "), ...typed.rest]);
}

function addNames(root: RootCommand, prefix: string, group: Group): void {
  for (const [name, entry] of Object.entries(group.commands)) {
    root.command(prefix + name, entry.summary);
    if (!("load" in entry)) addNames(root, `${prefix}${name} `, entry);
  }
}

/** The command of the words, with its full path and the words after it; null when they name none. */
async function typedCommand(
  words: readonly string[],
): Promise<{ path: string; command: Command; rest: readonly string[] } | null> {
  let entry: Leaf | Group = { summary: "", commands };
  const path: string[] = [];
  let wordCount = 0;
  for (const [index, word] of words.entries()) {
    if ("load" in entry) break;
    // `svc executions --status` is `svc executions list --status`.
    const name: string | undefined = word.startsWith("-") ? entry.default : word;
    // The last word is still being typed.
    if (name === undefined || (name === word && index === words.length - 1)) break;
    const found = find(entry, name);
    if (found === null) return null;
    path.push(found[0]);
    entry = found[1];
    if (name === word) wordCount += 1;
  }
  if (!("load" in entry)) return null;
  const { default: command } = await entry.load();
  return { path: path.join(" "), command, rest: words.slice(wordCount) };
}

/** Whether the last word is the value of an option that takes a file. The shell suggests files itself. */
function takesFile({ args }: Command, words: readonly string[]): boolean {
  const last = words.at(-1) ?? "";
  const option = last.startsWith("-") ? /^(--[^=]+)=/.exec(last)?.[1] : words.at(-2);
  return Object.entries(args).some(
    ([name, { alias, valueHint = "" }]) =>
      fileHints.has(valueHint) && (option === `--${name}` || option === `-${alias}`),
  );
}

async function addArguments(root: RootCommand, path: string, { args }: Command): Promise<void> {
  const command = root.commands.get(path);
  if (command === undefined) return;
  for (const [name, definition] of Object.entries(args)) {
    const { type, description, alias, synonym, options } = definition;
    if (type === "positional") {
      const names = targetArguments.has(`svc ${path} ${name}`) ? await targetNames() : [];
      command.argument(name, (suggest) => {
        for (const target of names) suggest(target.name, target.kind);
      });
    } else if (type === "boolean") {
      command.option(name, description, alias);
      if (synonym !== undefined) command.option(synonym, description);
    } else {
      const suggestValues: OptionHandler = (suggest) => {
        for (const value of options ?? []) suggest(value, "");
      };
      command.option(name, description, suggestValues, alias);
    }
  }
}
