import { say } from "../terminal/report.ts";
import { commands, type Group, type Leaf } from "./command-table.ts";
import { CliError, Silent, UsageError } from "./errors.ts";

/**
 * Runs one command line and says what went wrong, if anything did.
 *
 * @param argv - without the runtime and the script
 * @returns the exit code: 0 success, 1 failure, 2 wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    return await dispatch(argv);
  } catch (error) {
    return fail(error);
  }
}

/** Says what went wrong. @returns the exit code */
export async function fail(error: unknown): Promise<number> {
  if (error instanceof Silent) return error.exitCode;
  const known = error instanceof CliError ? error : (await import("../api/error-messages.ts")).explain(error);
  say.error(known.message, known.details, known.advice);
  return known.exitCode;
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) {
    say.line((await import("./help.ts")).rootHelp());
    return 2;
  }
  if (first === "--help" || first === "-h") return print((await import("./help.ts")).rootHelp());
  if (first === "--version") return print(await (await import("./version.ts")).versionText());
  if (first === "help") return dispatch([...rest, "--help"]);
  return descend("svc", { summary: "", commands }, argv);
}

/** Follows the names of groups to the command that is meant, and runs it. */
async function descend(path: string, group: Group, argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if (first === "--help" || first === "-h") return print((await import("./help.ts")).groupHelp(path, group));
  const isNamed = first !== undefined && !first.startsWith("-");
  const name = isNamed ? first : group.default;
  if (name === undefined) {
    if (first !== undefined) throw await unknownOption(first, path);
    say.line((await import("./help.ts")).groupHelp(path, group));
    return 2;
  }
  const entry = Object.hasOwn(group.commands, name) ? group.commands[name] : undefined;
  if (entry === undefined) throw await unknownCommand(name, Object.keys(group.commands), path);
  const following = isNamed ? rest : argv;
  return "load" in entry
    ? runLeaf(`${path} ${name}`, entry, following)
    : descend(`${path} ${name}`, entry, following);
}

async function runLeaf(path: string, leaf: Leaf, argv: readonly string[]): Promise<number> {
  const { default: command } = await leaf.load();
  const end = argv.indexOf("--");
  const flags = end === -1 ? argv : argv.slice(0, end);
  if (flags.includes("--help") || flags.includes("-h")) {
    return print((await import("./help.ts")).commandHelp(path, leaf, command));
  }
  const { checkArguments } = await import("./parse-arguments.ts");
  checkArguments(argv, command.options, path);
  const { runCommand } = await import("citty");
  await runCommand(command.citty, { rawArgs: [...argv] });
  return 0;
}

async function unknownCommand(typed: string, known: string[], path: string): Promise<UsageError> {
  const { suggest } = await import("../../project/suggest.ts");
  const near = suggest(typed, known);
  if (near !== undefined) {
    return new UsageError(
      `Unknown command "${typed}"; did you mean \`${path} ${near}\`?`,
      `See \`${path} --help\`.`,
    );
  }
  // `svc executions exe_…` is what people type who know other tools.
  const advice = known.includes("show")
    ? `To see one: \`${path} show ${typed}\`.`
    : `See \`${path} --help\`.`;
  return new UsageError(`Unknown command "${typed}" for \`${path}\`.`, advice);
}

async function unknownOption(typed: string, path: string): Promise<UsageError> {
  const { suggest } = await import("../../project/suggest.ts");
  const near = suggest(typed, path === "svc" ? ["--help", "--version"] : ["--help"]);
  return new UsageError(
    `Unknown option ${typed} for \`${path}\`${near === undefined ? "." : `; did you mean ${near}?`}`,
    `Options of a command come after its name: \`${path} <command> [options]\`.`,
  );
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}
