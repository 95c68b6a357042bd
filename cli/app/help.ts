import { stripVTControlCharacters } from "node:util";
import { stdoutColors as colors } from "../terminal/colors.ts";
import type { ArgumentDefinition, Command } from "./command.ts";
import { commands, type Group, type Leaf, sections } from "./command-table.ts";

const columns = 80;

type Row = readonly [left: string, right: string];

/** The help of `svc`. Loads no command. */
export function rootHelp(): string {
  const width = widest(Object.keys(commands));
  return [
    wrap("svc deploys agents and workflows and runs them on demand, on schedules and on webhooks.", 0),
    `${colors.bold("Usage")}\n  svc <command> [options]`,
    ...sections.map(([title, table]) =>
      block(
        title,
        Object.entries(table).map(([name, { summary }]): Row => [name, summary]),
        width,
      ),
    ),
    block("Environment variables", [
      ["SVC_API_KEY", "API key (default: that of the profile, or of a running `svc dev`)"],
      ["SVC_BASE_URL", "Address of the service (default: that of the profile, or http://127.0.0.1:7070)"],
      ["SVC_PROFILE", "Profile (default: the one chosen with `svc profiles use`)"],
      ["NO_COLOR", "Disables colors"],
    ]),
    colors.dim("Run `svc <command> --help` for the options of a command."),
  ].join("\n\n");
}

/** The help of a group, such as `svc executions`. */
export function groupHelp(path: string, group: Group): string {
  const rows = Object.entries(group.commands).map(
    ([command, { summary }]): Row => [
      command,
      command === group.default ? `${summary} ${colors.dim("(default)")}` : summary,
    ],
  );
  return [
    `${group.summary}.`,
    `${colors.bold("Usage")}\n  ${path} <command> [options]`,
    block("Commands", rows),
    colors.dim(
      [
        `Run \`${path} <command> --help\` for the options of a command.`,
        ...(group.default === undefined
          ? []
          : [
              `\`${path}\` takes the options of \`${path} ${group.default}\`: run \`${path} ${group.default} --help\`.`,
            ]),
      ].join("\n"),
    ),
  ].join("\n\n");
}

/** The help of one command. */
export function commandHelp(path: string, { summary }: Leaf, command: Command): string {
  const all = Object.entries(command.args);
  const positionals = all.filter(([, { type }]) => type === "positional");
  const options = all.filter(([, { type }]) => type !== "positional");
  const usage = positionals.map(([name, { required }]) => (required === false ? ` [${name}]` : ` <${name}>`));
  const parts = [
    `${summary}.`,
    wrap(command.details, 0),
    `${colors.bold("Usage")}\n  ${path}${usage.join("")} [options]`,
    block(
      "Arguments",
      positionals.map(([name, definition]): Row => [name, described(definition)]),
    ),
    block("Options", [
      ...options.map(([name, definition]): Row => [optionLabel(name, definition), described(definition)]),
      ["-h, --help", "Print this help"],
    ]),
    examplesBlock(command),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function examplesBlock({ examples }: Command): string {
  if (examples.length === 0) return "";
  const lines = examples.map(([line, purpose]) => `  ${colors.dim(`# ${purpose}`)}\n  ${line}`);
  return [colors.bold("Examples"), ...lines].join("\n");
}

function optionLabel(name: string, { alias, synonym, type, valueHint }: ArgumentDefinition): string {
  const value = type === "boolean" ? "" : ` <${valueHint ?? "value"}>`;
  const names = synonym === undefined ? `--${name}` : `--${synonym}, --${name}`;
  return `${alias === undefined ? "    " : `-${alias}, `}${names}${value}`;
}

function described(definition: ArgumentDefinition): string {
  const choices = definition.options === undefined ? "" : `: ${definition.options.join(", ")}`;
  const value = definition.default === undefined ? "" : ` ${colors.dim(`(default: ${definition.default})`)}`;
  return `${definition.description}${choices}${value}`;
}

function block(
  title: string,
  rows: readonly Row[],
  width: number = widest(rows.map(([left]) => left)),
): string {
  if (rows.length === 0) return "";
  const lines = rows.map(
    ([left, right]) =>
      `  ${colors.cyan(left)}${" ".repeat(width - left.length + 2)}${wrap(right, width + 4)}`,
  );
  return [colors.bold(title), ...lines].join("\n");
}

/** Breaks a text at spaces; lines after the first begin at column `indentation`. */
function wrap(text: string, indentation: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const length = stripVTControlCharacters(`${line} ${word}`).length;
    if (line !== "" && indentation + length > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join(`\n${" ".repeat(indentation)}`);
}

function widest(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => text.length));
}
