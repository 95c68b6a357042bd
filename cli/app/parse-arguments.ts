import { parseArgs } from "node:util";
import { suggest } from "../../project/suggest.ts";
import type { Definition, Definitions } from "./command.ts";
import { UsageError } from "./errors.ts";

/**
 * Refuses a command line that does not fit the command's definition. citty accepts unknown options in silence,
 * gives an option without a value the empty string, and drops surplus arguments; a deploy command may do none of that.
 *
 * @param argv - what follows the command's name
 * @param path - the command as typed, for example `svc push`
 * @throws UsageError
 */
export function checkArguments(argv: readonly string[], definitions: Definitions, path: string): void {
  const help = `See \`${path} --help\`.`;
  const options = optionsOf(definitions);
  const { tokens } = parseArgs({
    args: [...argv],
    options: parserOptions(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  const seen = new Set<string>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const option = options.get(token.rawName);
    if (option === undefined) throw unknownOption(token.rawName, [...options.keys()], path);
    checkValue(token.rawName, token.value, token.inlineValue, option.def, help);
    if (seen.has(option.name) && option.def.type !== "boolean") {
      throw new UsageError(`${token.rawName} is given twice; it takes one value.`, help);
    }
    seen.add(option.name);
  }
  for (const [name, def] of Object.entries(definitions)) {
    if (def.type !== "positional" && def.required === true && !seen.has(name)) {
      throw new UsageError(`--${name} is missing.`, help);
    }
  }
  checkPositionals(positionals, definitions, path, help);
}

interface Option {
  name: string;
  def: Definition;
}

/** Every spelling that is accepted (`--limit`, `-n`), with what it stands for. */
function optionsOf(definitions: Definitions): Map<string, Option> {
  const options = new Map<string, Option>();
  for (const [name, def] of Object.entries(definitions)) {
    if (def.type === "positional") continue;
    options.set(`--${name}`, { name, def });
    if (def.alias !== undefined) options.set(`-${def.alias}`, { name, def });
  }
  return options;
}

function parserOptions(
  options: Map<string, Option>,
): Record<string, { type: "boolean" | "string"; short?: string }> {
  const parser: Record<string, { type: "boolean" | "string"; short?: string }> = {};
  for (const { name, def } of options.values()) {
    parser[name] = {
      type: def.type === "boolean" ? "boolean" : "string",
      ...(def.alias !== undefined && { short: def.alias }),
    };
  }
  return parser;
}

function unknownOption(typed: string, known: string[], path: string): UsageError {
  const near = suggest(typed, ["--help", ...known]);
  const question = near === undefined ? "" : `; did you mean ${near}?`;
  return new UsageError(
    `Unknown option ${typed} for \`${path}\`${question === "" ? "." : question}`,
    `See \`${path} --help\`.`,
  );
}

function checkValue(
  typed: string,
  value: string | undefined,
  inline: boolean | undefined,
  def: Definition,
  help: string,
): void {
  if (def.type === "boolean") {
    if (value !== undefined) throw new UsageError(`${typed} takes no value, but got "${value}".`, help);
    return;
  }
  // `--data --json` is a forgotten value; a value that really begins with a dash is written `--data=--json`.
  if (value === undefined || value === "" || (!inline && value.startsWith("-") && value !== "-")) {
    throw new UsageError(`${typed} needs a value.`, help);
  }
  if (def.type === "enum" && def.options !== undefined && !def.options.includes(value)) {
    const near = suggest(value, def.options);
    const question = near === undefined ? "" : ` Did you mean "${near}"?`;
    throw new UsageError(
      `${typed} must be one of ${def.options.join(", ")}; it is "${value}".${question}`,
      help,
    );
  }
}

function checkPositionals(typed: string[], definitions: Definitions, path: string, help: string): void {
  const expected = Object.entries(definitions).filter(([, def]) => def.type === "positional");
  const surplus = typed[expected.length];
  if (surplus !== undefined) {
    const takes = expected.length === 0 ? "no argument" : expected.map(([name]) => `<${name}>`).join(" ");
    throw new UsageError(`Unexpected argument "${surplus}": \`${path}\` takes ${takes}.`, help);
  }
  for (const [index, [name, def]] of expected.entries()) {
    const value = typed[index];
    if (value === "") throw new UsageError(`<${name}> must not be empty.`, help);
    if (value === undefined && def.required !== false) {
      throw new UsageError(`<${name}> is missing: ${def.description}.`, help);
    }
  }
}
