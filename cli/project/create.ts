import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PROJECT_FILE, parseProjectFile } from "../../project/file/parse.ts";
import { isName, nameRule } from "../../project/names.ts";
import { listTargets } from "../../project/tree.ts";
import { CliError, UsageError } from "../app/errors.ts";
import { say } from "../terminal/report.ts";
import { addEntry } from "./add-entry.ts";
import { readDefinition } from "./load.ts";
import { newAgent, newWorkflow } from "./templates/module.ts";

/** Writes the module of a new agent or workflow and names it in the project file. Asks nothing, overwrites nothing. */
export async function create(root: string, kind: "agent" | "workflow", name: string): Promise<void> {
  if (!isName(name)) {
    throw new UsageError(
      `"${name}" cannot be the name of ${article(kind)}: it must be ${nameRule}.`,
      "Choose another name.",
    );
  }
  const definition = await readDefinition(root);
  const taken = [...definition.agents, ...definition.workflows].find((target) => target.name === name);
  if (taken !== undefined) {
    throw new CliError(
      `There is ${article(taken.kind)} "${name}" already, ${taken.module}.`,
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
      `Cannot add ${article(kind)} to ${PROJECT_FILE}: its \`${kind}s\` are not written one per line.`,
      `Nothing was written. Write them as a block, \`- name: ${name}\` on a line of its own, then repeat.`,
    );
  }

  await mkdir(dirname(join(root, module)), { recursive: true });
  await writeNew(join(root, module), kind === "agent" ? newAgent(name) : newWorkflow(name), module);
  await writeFile(join(root, PROJECT_FILE), after);
  say.done(`Wrote ${module} and added it to ${PROJECT_FILE}.`);
  say.line(`\nNext:\n  svc test ${name}`);
}

async function writeNew(path: string, text: string, shown: string): Promise<void> {
  try {
    await using file = await open(path, "wx");
    await file.writeFile(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new CliError(
      `Cannot write ${shown}: it exists already.`,
      "Choose another name, or add it by hand.",
    );
  }
}

function article(kind: "agent" | "workflow"): string {
  return kind === "agent" ? "an agent" : "a workflow";
}
