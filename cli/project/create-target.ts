import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PROJECT_FILE, parseProjectFile } from "../../project/file/parse.ts";
import { isName, nameRule } from "../../project/names.ts";
import { listTargets } from "../../project/tree.ts";
import { CliError, UsageError } from "../app/errors.ts";
import { report } from "../terminal/report.ts";
import { addEntry } from "./add-entry.ts";
import { readDefinition } from "./load.ts";
import { newAgent, newWorkflow } from "./templates/module.ts";

/** Writes the module of a new agent or workflow and adds it to the project file. Never overwrites a file. */
export async function createTarget(root: string, kind: "agent" | "workflow", name: string): Promise<void> {
  if (!isName(name)) {
    throw new UsageError(
      `"${name}" is not a valid ${kind} name: a name must be ${nameRule}.`,
      "Choose another name.",
    );
  }
  const { agents, workflows } = await readDefinition(root);
  const existing = [...agents, ...workflows].find((target) => target.name === name);
  if (existing !== undefined) {
    throw new CliError(
      `The ${existing.kind} "${name}" already exists in ${existing.module}.`,
      "Choose another name.",
    );
  }

  const module = `${kind}s/${name}.ts`;
  const before = await readFile(join(root, PROJECT_FILE), "utf8");
  const after = addEntry(before, `${kind}s`, name);
  const files = new Set([...(await listTargets(root)), module]);
  const isValid = after !== null && parseProjectFile(Buffer.from(after), { files }).definition !== null;
  if (after === null || !isValid) {
    throw new CliError(
      `Cannot add the ${kind} to ${PROJECT_FILE}: \`${kind}s\` is not a block list.`,
      `No file was written. Put each entry on its own line, as in \`- name: ${name}\`.`,
    );
  }

  await mkdir(dirname(join(root, module)), { recursive: true });
  await writeNewFile(join(root, module), kind === "agent" ? newAgent(name) : newWorkflow(name), module);
  await writeFile(join(root, PROJECT_FILE), after);
  report.success(`Created ${module} and added it to ${PROJECT_FILE}.`);
  report.line(`\nNext step:\n  svc test ${name}`);
}

async function writeNewFile(path: string, text: string, label: string): Promise<void> {
  try {
    await using file = await open(path, "wx");
    await file.writeFile(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new CliError(
      `Cannot write ${label}: the file already exists.`,
      `Choose another name, or add the file to ${PROJECT_FILE}.`,
    );
  }
}
