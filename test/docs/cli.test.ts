/** docs/cli.md is generated from the definitions of the commands: `npx vitest run test/docs/cli --update`. */
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ArgumentDefinition, Command } from "../../cli/app/command.ts";
import { type Group, type Leaf, sections } from "../../cli/app/command-table.ts";
import { root } from "../support/runtimes.ts";

const intro = `# Command line

- **Configuration:** \`SVC_API_KEY\` holds the API key. \`SVC_BASE_URL\` holds the address of the service, \`http://127.0.0.1:7070\` by default. Append \`/env/<environment>\` to select an environment. Without \`SVC_API_KEY\`, the profile that \`svc login\` stored in \`~/.config/svc\` applies. \`SVC_PROFILE\` or \`svc profiles use\` chooses one of several. The key of a profile is sent only to its own address.
- **Scripts:** \`--json\` prints one JSON document with the names of the REST API on standard output, and nothing else there. \`svc logs\` prints one document per line. Errors are a message and a line of advice on standard error.
- **Exit codes:** 0 success, 1 failure, 2 wrong usage, 130 interrupted. \`svc run\` exits with 1 when the execution fails. Unknown options and commands are rejected with a suggestion.
- **Confirmation:** Without a terminal, or with \`--json\`, a command that asks for confirmation exits with 2 unless \`--yes\` (\`-y\`, \`--force\`) is given.
- **Groups:** A group without a command lists: \`svc executions\` is \`svc executions list\`. Singular and plural of a group both work.
- **Projects:** Commands that need a project find it from its sub-folders.
- **Terminal:** Colors and progress bars appear on terminals only. \`NO_COLOR\` disables colors. A narrow terminal omits less important columns of a table, and \`--json\` prints everything. Escape sequences and control characters in projects, payloads, logs and messages are removed from all output.

Every command has \`--help\`. In a checkout, \`node cli/launcher.js\` starts faster than \`node cli/main.ts\`, because Node caches the compiled modules.
`;

test("docs/cli.md lists all commands, arguments and options", async () => {
  const parts = await Promise.all(
    sections.map(async ([title, table]) => {
      const commands = await Promise.all(Object.entries(table).map(([name, entry]) => pageOf(name, entry)));
      return `## ${title}\n\n${commands.flat().join("\n\n")}\n`;
    }),
  );
  await expect(`${intro}\n${parts.join("\n")}`).toMatchFileSnapshot(join(root, "docs/cli.md"));
});

async function pageOf(path: string, entry: Leaf | Group): Promise<string[]> {
  if (!("load" in entry)) {
    const commands = Object.entries(entry.commands).map(([name, each]) => pageOf(`${path} ${name}`, each));
    return (await Promise.all(commands)).flat();
  }
  const { default: command } = await entry.load();
  return [textOf(path, entry, command)];
}

function textOf(path: string, { summary }: Leaf, { args, details, examples }: Command): string {
  const all = Object.entries(args);
  const positionals = all.filter(([, { type }]) => type === "positional");
  const options = all.filter(([, { type }]) => type !== "positional");
  const usage = positionals.map(([name, { required }]) => (required === false ? ` [${name}]` : ` <${name}>`));
  const rows = [
    ...positionals.map(([name, definition]) => [`\`${name}\``, definition] as const),
    ...options.map(([name, definition]) => [labelOf(name, definition), definition] as const),
  ].map(
    ([label, definition]) =>
      `| ${label} | ${cell(escaped(meaningOf(definition)))} | ${defaultOf(definition)} |`,
  );
  return [
    `### \`svc ${path}${usage.join("")}\``,
    escaped(`${summary}. ${details}`.trim()),
    ...(rows.length === 0 ? [] : [["| argument | meaning | default |", "|---|---|---|", ...rows].join("\n")]),
    ...(examples.length === 0
      ? []
      : [`\`\`\`sh\n${examples.map(([line, purpose]) => `${line}  # ${purpose}`).join("\n")}\n\`\`\``]),
  ].join("\n\n");
}

function labelOf(name: string, { alias, synonym, type, valueHint }: ArgumentDefinition): string {
  const value = type === "boolean" ? "" : ` <${valueHint ?? "value"}>`;
  const names = [`--${name}`, ...(synonym === undefined ? [] : [`--${synonym}`])];
  return [...names, ...(alias === undefined ? [] : [`-${alias}`])]
    .map((each, index) => `\`${each}${index === 0 ? cell(value) : ""}\``)
    .join(", ");
}

function meaningOf({ description, options }: ArgumentDefinition): string {
  const meaning = description.replace(/ \((?:required|default: [^)]*)\)$/, "");
  return options === undefined ? meaning : `${meaning}: ${options.map((each) => `\`${each}\``).join(", ")}`;
}

/** The default of the definition, or the one that its description states. */
function defaultOf({ default: value, required, type, description }: ArgumentDefinition): string {
  if (value !== undefined) return `\`${value}\``;
  const [, stated] = /\(default: ([^)]*)\)$/.exec(description) ?? [];
  if (stated !== undefined) return cell(escaped(stated));
  return required === true || (type === "positional" && required !== false) ? "required" : "";
}

/** A placeholder such as `<name>` is no HTML element. */
function escaped(text: string): string {
  return text.replaceAll("<", "\\<");
}

/** A text within a cell of a table. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
