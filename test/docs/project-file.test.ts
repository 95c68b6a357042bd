/** docs/project-file.md is generated from the JSON Schema of the project file: `npx vitest run test/docs/project-file --update`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROJECT_FILE } from "../../project/names.ts";
import { root } from "../support/runtimes.ts";

interface Schema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  required?: string[];
  $ref?: string;
}

const schema: Schema & { definitions: Record<string, Schema> } = JSON.parse(
  readFileSync(join(root, "project.schema.json"), "utf8"),
);
const { agent = {}, workflow = {}, webhook = {}, schedule = {} } = schema.definitions;

const intro = `# The project file

\`${PROJECT_FILE}\` in the root folder of a project names its agents, workflows, webhooks and schedules. It is YAML 1.2 in UTF-8, at most 256 KiB.

\`\`\`yaml
name: hello
version: "1.0.0"
agents:
  - name: triage
    enable_retry: true
    webhooks:
      - slug: github-issue
        field_mapping: { issue.title: title }
        signature: { scheme: github, secret: GITHUB_SECRET }
workflows:
  - name: backlog
    timeout: 900
schedules:
  workflows:
    backlog: { cron: "0 9 * * 1-5", timezone: Europe/Berlin }
network: [api.github.com]
\`\`\`

- All problems are reported at once, each with its line and column. Unknown keys are errors, except those that begin with \`x-\`.
- A *name* has 1 to 64 of \`A-Z a-z 0-9 _ -\` and begins with a letter or digit. A *text* is one line of at most 256 characters.
- Values of \`vars\` are text of at most 4,096 characters, numbers, \`true\` or \`false\`. \`environments: { staging: { vars: { … } } }\` replaces them in one environment: see [authoring](authoring.md#variables).
- Editors complete and check the file with the JSON Schema in the package, \`project.schema.json\`: see the first line of the file that \`svc init\` writes.
`;

test("docs/project-file.md lists all keys", async () => {
  expect(Object.keys(workflow.properties ?? {})).toEqual(Object.keys(agent.properties ?? {}));
  const text = [
    intro,
    section("Project", schema),
    section("Agents and workflows", agent, "Entries of `agents` and `workflows`."),
    section(
      "Webhooks",
      webhook,
      "Entries of `webhooks` of an agent or workflow. See [webhooks](webhooks/README.md).",
    ),
    section(
      "Schedules",
      schedule,
      "Keys of `schedules.agents.<name>` and `schedules.workflows.<name>`. In a list of schedules, each has a `name` too. See [schedules](schedules.md).",
    ),
  ].join("\n");
  await expect(text).toMatchFileSnapshot(join(root, "docs/project-file.md"));
});

function section(title: string, { description = "", ...map }: Schema, text: string = description): string {
  const heading = "| key | type and limits | default | meaning |\n|---|---|---|---|";
  return `## ${title}\n\n${linked(text)}\n\n${heading}\n${rowsOf("", map).join("\n")}\n`;
}

function rowsOf(prefix: string, map: Schema): string[] {
  return Object.entries(map.properties ?? {}).flatMap(([key, value]) => {
    const name = `${prefix}${key}`;
    const forms = value.anyOf ?? value.oneOf ?? [];
    const nested = [value, ...forms].find((form) => form.properties !== undefined);
    const [meaning, stated] = split(value.description ?? "");
    const standard = map.required?.includes(key) ? "required" : defaultOf(value, stated);
    const row = `| \`${name}\` | ${typeOf(value)} | ${cell(standard)} | ${cell(linked(meaning))} |`;
    return [row, ...(nested === undefined ? [] : rowsOf(`${name}.`, nested))];
  });
}

/** The meaning, and the default that its last sentence states. */
function split(description: string): [meaning: string, stated: string] {
  const [, meaning, stated] = /^(.*?) ?Default: (.+?)\.( See .*)?$/s.exec(description) ?? [];
  const see = / See \S+\.$/.exec(description)?.[0] ?? "";
  return meaning === undefined || stated === undefined ? [description, ""] : [meaning + see, stated];
}

function defaultOf({ default: value, properties }: Schema, stated: string): string {
  if (value === "") return "empty";
  if (value !== undefined) return `\`${typeof value === "object" ? JSON.stringify(value) : value}\``;
  return stated !== "" || properties !== undefined ? stated : "";
}

function typeOf(value: Schema): string {
  if (value.$ref !== undefined) return "map";
  const forms = value.anyOf ?? value.oneOf;
  if (forms !== undefined && value.type === undefined) {
    return [...new Set(forms.map(typeOf))].join(", or ");
  }
  if (value.enum !== undefined) return value.enum.map((word) => `\`${word}\``).join(", ");
  const type = [value.type ?? []].flat().find((each) => each !== "null");
  if (type === "string") return textOf(value);
  if (type === "integer" || type === "number") {
    const { minimum, exclusiveMinimum, maximum } = value;
    const kind = type === "integer" ? "whole number" : "number";
    const start = exclusiveMinimum === undefined ? `from ${minimum}` : `over ${exclusiveMinimum}`;
    return `${kind} ${start} to ${maximum?.toLocaleString("en")}`;
  }
  if (type === "array") {
    const { minItems, maxItems, items = {} } = value;
    const range = minItems === undefined ? "" : `${minItems} to `;
    const size = maxItems === undefined ? "" : `, ${range === "" ? "at most " : range}${maxItems}`;
    return `list of ${plural(typeOf(items))}${size}`;
  }
  if (type === "boolean") return "`true` or `false`";
  return type === "object" ? "map" : "value";
}

function textOf({ pattern = "", maxLength }: Schema): string {
  if (pattern.startsWith("^[A-Za-z0-9][A-Za-z0-9_-]{0,63}")) return "name";
  if (pattern.startsWith("^[!#$%&")) return "name of a header";
  return maxLength === undefined ? "text of at most 64 characters" : "text";
}

function plural(type: string): string {
  return type.startsWith("`") ? type : `${type}s`;
}

/** Links to the pages that a description names, and code in place of placeholders. */
function linked(text: string): string {
  return text
    .replaceAll(/\bdocs\/([\w/]+)\.md/g, (_, page: string) => `[${page.replace(/^.*\//, "")}](${page}.md)`)
    .replaceAll(
      /(?<![`\w])((?:agents|workflows)\/<name>\.ts|\{\w+\}(?:\.\{\w+\})?|\$header\.[\w-]+)/g,
      "`$1`",
    );
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
