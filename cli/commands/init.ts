import { basename, relative, resolve } from "node:path";
import { didYouMean } from "../../project/suggest.ts";
import { type Command, command } from "../app/command.ts";
import { UsageError } from "../app/errors.ts";
import { runtimeName } from "../app/version.ts";
import { type TemplateName, templateNames, templates } from "../project/templates/index.ts";
import { nextSteps } from "../project/templates/next-steps.ts";
import { ownDependency } from "../project/templates/own-dependency.ts";
import { newProject } from "../project/templates/project.ts";
import { writeProject } from "../project/templates/write.ts";
import { count } from "../terminal/format.ts";
import { isInteractive, prompt } from "../terminal/prompt.ts";
import { report } from "../terminal/report.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { indent } from "../terminal/table.ts";

export default command({
  details:
    "Writes a project with its package.json, tsconfig.json, samples and tests. On a terminal, it asks for the template; without one, the template is agent. Existing files are never overwritten.",
  args: {
    dir: { type: "positional", required: false, description: "Folder of the project (default: this folder)" },
    template: {
      type: "string",
      alias: "t",
      valueHint: "name",
      description: `Template: ${templateNames.join(", ")}`,
    },
  },
  examples: [
    ["svc init my-project", "Create a project in a new folder"],
    ["svc init my-project --template github", "Create a project that receives GitHub webhooks"],
  ],
  async run({ dir = ".", template: typed }) {
    const template = typed === undefined ? await chooseTemplate() : checkedTemplate(typed);
    const root = resolve(dir);
    const runtime = runtimeName();
    const svc = await ownDependency();
    const files = newProject({ folder: basename(root), template, runtime, svc });
    const { written, kept } = await writeProject(root, files, dir);
    const folder = relative(process.cwd(), root);
    report.success(`Created ${count(written.length, "file")} in ${folder === "" ? "this folder" : folder}.`);
    for (const path of written) report.line(`    ${path}`);
    if (kept.length > 0) report.detail(`Kept ${kept.join(", ")}.`);
    const steps = nextSteps({
      folder,
      template,
      runtime,
      svc,
      hasOwnManifest: kept.includes("package.json"),
    });
    report.line(`\nNext steps:\n${indent(steps.join("\n"))}`);
  },
}) as Command;

function checkedTemplate(typed: string): TemplateName {
  const found = templateNames.find((name) => name === typed);
  if (found !== undefined) return found;
  throw new UsageError(
    `No template "${sanitizeLine(typed)}"${didYouMean(typed, templateNames)}.`,
    `Templates: ${templateNames.join(", ")}.`,
  );
}

async function chooseTemplate(): Promise<TemplateName> {
  if (!isInteractive()) return "agent";
  const width = Math.max(...templateNames.map(({ length }) => length));
  const options = templateNames.map((name) => ({
    value: name,
    label: `${name.padEnd(width)}  ${templates[name].title}`,
  }));
  return (await prompt("Template", { type: "select", options, initial: "agent" })) as TemplateName;
}
