import { out } from "../terminal/colors.ts";
import type { Command, Definition } from "./command.ts";
import { commands, type Group, type Leaf, sections } from "./command-table.ts";

type Row = readonly [left: string, right: string];

/** The help of `svc` itself. Needs no command's file. */
export function rootHelp(): string {
  const width = widest(Object.keys(commands));
  const blocks = sections.map((section) => {
    const rows = Object.entries(commands).filter(([, entry]) => entry.section === section);
    return block(
      section,
      rows.map(([name, { summary }]): Row => [name, summary]),
      width,
    );
  });
  return [
    "svc deploys agents and workflows, and runs them on demand, on schedules and on webhooks.",
    `${heading("Usage")}\n  svc <command> [options]`,
    ...blocks,
    block("Environment", [
      ["SVC_API_KEY", "The API key"],
      ["SVC_BASE_URL", "The service's address; http://127.0.0.1:7070 when not set"],
      ["NO_COLOR", "Switches colours off"],
    ]),
    out.dim("`svc <command> --help` says more about a command, `svc --version` which version this is."),
  ].join("\n\n");
}

/** The help of a group, such as `svc executions`. */
export function groupHelp(path: string, group: Group): string {
  const rows = Object.entries(group.commands).map(
    ([command, { summary }]): Row => [
      command,
      command === group.default ? `${summary} ${out.dim("(default)")}` : summary,
    ],
  );
  return [
    `${group.summary}.`,
    `${heading("Usage")}\n  ${path} <command> [options]`,
    block("Commands", rows),
    out.dim(`\`${path} <command> --help\` says more about a command.`),
  ].join("\n\n");
}

/** The help of one command. */
export function commandHelp(path: string, leaf: Leaf, command: Command): string {
  const all = Object.entries(command.options);
  const positionals = all.filter(([, def]) => def.type === "positional");
  const options = all.filter(([, def]) => def.type !== "positional");
  const usage = [path, ...positionals.map(([name, def]) => (isRequired(def) ? `<${name}>` : `[${name}]`))];
  const optionRows = options.map(([name, def]): Row => [optionLabel(name, def), described(def)]);
  return [
    `${leaf.summary}.`,
    ...(command.about === "" ? [] : [command.about]),
    `${heading("Usage")}\n  ${usage.join(" ")} [options]`,
    ...(positionals.length === 0
      ? []
      : [
          block(
            "Arguments",
            positionals.map(([name, def]): Row => [name, described(def)]),
          ),
        ]),
    block("Options", [...optionRows, ["-h, --help", "Show this help"]]),
    ...(command.examples.length === 0 ? [] : [block("Examples", command.examples)]),
  ].join("\n\n");
}

function isRequired(def: Definition): boolean {
  return def.type === "positional" && def.required !== false;
}

function optionLabel(name: string, def: Definition): string {
  const value = def.type === "boolean" ? "" : ` <${def.valueHint ?? "value"}>`;
  return `${def.alias === undefined ? "    " : `-${def.alias}, `}--${name}${value}`;
}

function described(def: Definition): string {
  const choices = def.type === "enum" && def.options !== undefined ? `: ${def.options.join(", ")}` : "";
  const fallback = def.default !== undefined ? ` ${out.dim(`(default ${def.default})`)}` : "";
  return `${def.description}${choices}${fallback}`;
}

function block(
  title: string,
  rows: readonly Row[],
  width: number = widest(rows.map(([left]) => left)),
): string {
  const lines = rows.map(
    ([left, right]) => `  ${out.cyan(left)}${" ".repeat(width - left.length + 3)}${right}`,
  );
  return [heading(title), ...lines].join("\n");
}

function heading(title: string): string {
  return out.bold(title);
}

function widest(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => text.length));
}
