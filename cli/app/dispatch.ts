import type { ArgsDef, ParsedArgs } from "citty";
import { print } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";
import { commands, type Group, type Leaf } from "./command-table.ts";
import { CliError, Exit, UsageError } from "./errors.ts";
import { find } from "./find-command.ts";
import { foreignCommand } from "./foreign-names.ts";

/**
 * Runs one command line and reports its error, if any.
 *
 * Commands are defined with citty's `defineCommand`. Its dispatcher, parser and usage text are replaced: citty accepts
 * unknown options silently, skips options in front of a command (`svc --dry-run push` would deploy), finds commands
 * such as `constructor` on the prototype, drops surplus arguments and loads every command to print the usage of one.
 *
 * @param argv - without the runtime and the script
 * @returns the exit code: 0 success, 1 failure, 2 wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    return await dispatch(argv);
  } catch (error) {
    return reportError(error);
  }
}

/** Reports an error on standard error. @returns the exit code */
export async function reportError(error: unknown): Promise<number> {
  if (error instanceof Exit) return error.exitCode;
  const known =
    error instanceof CliError ? error : (await import("../api/error-messages.ts")).toCliError(error);
  report.error(known.message, known.details, known.advice);
  return known.exitCode;
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined || isHelp(first)) {
    const text = (await import("./help.ts")).rootHelp();
    return first === undefined ? usage(text) : help(text);
  }
  if (first === "--version") return help(await (await import("./version.ts")).versionText());
  if (first === "complete") {
    await (await import("../completion/complete.ts")).complete(rest[0] === "--" ? rest.slice(1) : rest);
    return 0;
  }
  if (first === "help") return dispatch([...rest, "--help"]);
  return descend("svc", { summary: "", commands }, argv);
}

/** Follows the names of groups to the command and runs it. */
async function descend(path: string, group: Group, argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if (first !== undefined && isHelp(first)) return help((await import("./help.ts")).groupHelp(path, group));
  const isNamed = first !== undefined && !first.startsWith("-");
  const name = isNamed ? first : group.default;
  if (name === undefined) {
    if (first !== undefined) {
      const line = foreignCommand(path, first, []);
      if (line !== undefined) {
        throw new UsageError(
          `Unknown option ${first}; did you mean \`${line}\`?`,
          `Run \`${path} --help\` for usage.`,
        );
      }
      const { unknownOption } = await import("./parse-arguments.ts");
      const known = path === "svc" ? ["--help", "--version"] : ["--help"];
      const advice = `Options follow the name of the command: \`${path} <command> [options]\`.`;
      throw unknownOption(first, known, path, advice);
    }
    return usage((await import("./help.ts")).groupHelp(path, group));
  }
  const found = find(group, name);
  if (found === null) throw await unknownCommand(name, Object.keys(group.commands), path);
  const [fullName, entry] = found;
  const remaining = isNamed ? rest : argv;
  return "load" in entry
    ? runLeaf(`${path} ${fullName}`, entry, remaining)
    : descend(`${path} ${fullName}`, entry, remaining);
}

async function runLeaf(path: string, leaf: Leaf, argv: readonly string[]): Promise<number> {
  const { default: command } = await leaf.load();
  const end = argv.indexOf("--");
  if ((end === -1 ? argv : argv.slice(0, end)).some(isHelp)) {
    return help((await import("./help.ts")).commandHelp(path, leaf, command));
  }
  const { parseArguments } = await import("./parse-arguments.ts");
  const values = parseArguments(argv, command.args, path);
  const args = values as ParsedArgs<ArgsDef>;
  await command.citty.run?.({ rawArgs: [...argv], args, cmd: command.citty });
  return 0;
}

async function unknownCommand(typed: string, known: string[], path: string): Promise<UsageError> {
  const { suggest } = await import("../../project/suggest.ts");
  const near = suggest(typed, known);
  const line = foreignCommand(path, typed, known) ?? (near === undefined ? undefined : `${path} ${near}`);
  const help = `Run \`${path} --help\` for usage.`;
  if (line !== undefined) {
    return new UsageError(`Unknown command "${typed}"; did you mean \`${line}\`?`, help);
  }
  // Users of other tools type `svc executions exe_…`.
  const advice = known.includes("show") ? `To print one entry, run \`${path} show ${typed}\`.` : help;
  return new UsageError(`Unknown command "${typed}" for \`${path}\`.`, advice);
}

function isHelp(argument: string): boolean {
  return argument === "--help" || argument === "-h";
}

function help(text: string): number {
  print(text);
  return 0;
}

/** Without a command, the help is the error message. */
function usage(text: string): number {
  report.line(text);
  return 2;
}
