import { parseArgs } from "node:util";
import { suggest } from "../../project/suggest.ts";
import type { ArgumentDefinition, ArgumentDefinitions } from "./command.ts";
import { UsageError } from "./errors.ts";
import { foreignOption } from "./foreign-names.ts";

/**
 * Parses the arguments of a command into the value of each.
 *
 * @param argv - the arguments after the command's name
 * @param path - the command as typed, for example `svc push`
 * @throws UsageError when they do not match the definitions
 */
export function parseArguments(
  argv: readonly string[],
  definitions: ArgumentDefinitions,
  path: string,
): Record<string, unknown> {
  const help = `Run \`${path} --help\` for usage.`;
  const spellings = spellingsOf(definitions);
  const { tokens } = parseArgs({
    args: [...argv],
    options: parserOptions(definitions),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const texts = new Map<string, string | true>();
  const lists = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const typed = token.rawName;
    const name = spellings.get(typed);
    const definition = name === undefined ? undefined : definitions[name];
    if (name === undefined || definition === undefined)
      throw unknownOption(typed, ["--help", ...spellings.keys()], path, help);
    if (definition.type === "boolean") {
      if (token.value !== undefined) {
        throw new UsageError(`${typed} does not take a value, but "${token.value}" was given.`, help);
      }
      texts.set(name, true);
      continue;
    }
    const value = checkedValue(typed, token.value, token.inlineValue === true, definition, help);
    if (definition.multiple === true) {
      lists.set(name, [...(lists.get(name) ?? []), value]);
      continue;
    }
    if (texts.has(name)) throw new UsageError(`${typed} may be given only once.`, help);
    texts.set(name, value);
  }
  assignPositionals(positionals, definitions, texts, path, help);
  return Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => {
      const option = definition.type === "positional" ? `<${name}>` : `--${name}`;
      if (definition.multiple === true) {
        return [name, (lists.get(name) ?? []).map((item) => definition.parse?.(item, option) ?? item)];
      }
      const text = texts.get(name) ?? definition.default;
      if (definition.type === "boolean") return [name, text === true];
      if (text === undefined && definition.required === true) {
        throw new UsageError(`${option} is required.`, help);
      }
      return [name, typeof text === "string" && definition.parse ? definition.parse(text, option) : text];
    }),
  );
}

/** Name of the argument by each accepted spelling: `--limit`, `-n`. */
function spellingsOf(definitions: ArgumentDefinitions): Map<string, string> {
  const options = Object.entries(definitions).filter(([, { type }]) => type !== "positional");
  return new Map(
    options.flatMap(([name, { alias, synonym }]) => [
      [`--${name}`, name] as const,
      ...(synonym === undefined ? [] : [[`--${synonym}`, name] as const]),
      ...(alias === undefined ? [] : [[`-${alias}`, name] as const]),
    ]),
  );
}

function parserOptions(
  definitions: ArgumentDefinitions,
): Record<string, { type: "boolean" | "string"; short?: string }> {
  const options = Object.entries(definitions).filter(([, { type }]) => type !== "positional");
  return Object.fromEntries(
    options.flatMap(([name, { type, alias, synonym }]) => {
      const option = { type: type === "boolean" ? "boolean" : "string" } as const;
      return [
        [name, { ...option, ...(alias !== undefined && { short: alias }) }] as const,
        ...(synonym === undefined ? [] : [[synonym, option] as const]),
      ];
    }),
  );
}

function checkedValue(
  typed: string,
  value: string | undefined,
  isInline: boolean,
  { options }: ArgumentDefinition,
  help: string,
): string {
  // In `--data --json` the value is missing. A value that begins with a dash is written `--data=--json`, except a number.
  const isOption = value !== undefined && /^-(?!\d)./.test(value);
  if (value === undefined || value === "" || (!isInline && isOption)) {
    throw new UsageError(`${typed} requires a value.`, help);
  }
  if (options === undefined || options.includes(value)) return value;
  const near = suggest(value, options);
  const question = near === undefined ? "" : ` Did you mean "${near}"?`;
  throw new UsageError(`${typed} must be one of ${options.join(", ")}, not "${value}".${question}`, help);
}

function assignPositionals(
  typed: readonly string[],
  definitions: ArgumentDefinitions,
  texts: Map<string, string | true>,
  path: string,
  help: string,
): void {
  const expected = Object.entries(definitions).filter(([, { type }]) => type === "positional");
  const surplus = typed[expected.length];
  if (surplus !== undefined) {
    const takes = expected.length === 0 ? "no arguments" : expected.map(([name]) => `<${name}>`).join(" ");
    throw new UsageError(`Unexpected argument "${surplus}": \`${path}\` takes ${takes}.`, help);
  }
  for (const [index, [name, definition]] of expected.entries()) {
    const { required, description } = definition;
    const value = typed[index];
    if (value === "") throw new UsageError(`<${name}> must not be empty.`, help);
    if (value !== undefined) texts.set(name, checkedValue(`<${name}>`, value, true, definition, help));
    else if (required !== false) throw new UsageError(`<${name}> is required: ${description}.`, help);
  }
}

/** The error for an unknown option, with the most similar known one. */
export function unknownOption(
  typed: string,
  known: readonly string[],
  path: string,
  advice: string,
): UsageError {
  const near = foreignOption(typed, known) ?? suggest(typed, known);
  const question = near === undefined ? "." : `; did you mean ${near}?`;
  return new UsageError(`Unknown option ${typed} for \`${path}\`${question}`, advice);
}
