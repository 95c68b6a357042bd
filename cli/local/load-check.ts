import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import type { ProjectDefinition, TargetDefinition } from "../../project/definition.ts";
import { PROJECT_FILE } from "../../project/file/parse.ts";
import { readProjectFile } from "../../project/file/read.ts";
import { inputProblems, inputsToCheck } from "../../project/inputs/problems.ts";
import type { CollectedFile } from "../../project/package-file.ts";
import type { InputsToCheck, ModuleCheck } from "../../server/executions/pool/index.ts";
import { invalidProject } from "../project/load.ts";
import { moduleErrors } from "./module-errors.ts";
import { loadModules } from "./pool.ts";

/**
 * Loads the module of every agent and workflow in a runner on this machine, and compares field mappings and inputs of
 * schedules with their schemas.
 *
 * Copying 10,000 files takes longer than packaging them. The first check therefore copies only the files that the
 * modules refer to. Modules that fail are loaded again with all files.
 *
 * @throws CliError with each module that does not load, or with each problem in the project file
 */
export async function checkModules(
  root: string,
  definition: ProjectDefinition,
  files: readonly CollectedFile[],
): Promise<void> {
  const targets = [...definition.agents, ...definition.workflows];
  const referenced = await referencedFiles(targets, files);
  const inputs = inputsToCheck(definition);
  const checks = await load(targets, referenced, inputs);
  let failed = checks.filter(({ ok }) => !ok);
  if (failed.length > 0 && referenced.length < files.length) {
    const suspects = targets.filter(({ module }) => failed.some((check) => check.module === module));
    const again = await load(suspects, files, inputs);
    failed = again.filter(({ ok }) => !ok);
    checks.push(...again);
  }
  if (failed.length > 0) throw moduleErrors(failed);
  const read = await readProjectFile(root);
  const loaded = checks.filter(({ ok }) => ok);
  const problems = "problems" in read ? read.problems : inputProblems(read.bytes, definition, loaded);
  if (problems.length > 0) {
    throw invalidProject(
      problems.map((problem) => ({ file: PROJECT_FILE, ...problem })),
      "Change the reported places, or the schemas of the code, and run the command again.",
    );
  }
}

async function load(
  targets: readonly TargetDefinition[],
  files: readonly CollectedFile[],
  inputs: InputsToCheck,
): Promise<ModuleCheck[]> {
  if (targets.length === 0) return [];
  const modules = targets.map(({ module }) => module);
  return loadModules(files, modules, inputs);
}

/**
 * Returns the modules of the targets, the files that they refer to by a relative path, directly or indirectly, and all
 * bundled files. Every string that looks like a path counts as a reference; an unneeded file costs little.
 */
async function referencedFiles(
  targets: readonly TargetDefinition[],
  files: readonly CollectedFile[],
): Promise<CollectedFile[]> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const found = new Set(files.filter(({ path }) => path.startsWith("node_modules/")));
  const queue = targets.map(({ module }) => module);
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const file = byPath.get(path);
    if (file === undefined || found.has(file)) continue;
    found.add(file);
    if (!/\.[mc]?[jt]sx?$/.test(path)) continue;
    const text =
      file.content === undefined
        ? await readFile(file.absolutePath, "utf8")
        : Buffer.from(file.content).toString("utf8");
    for (const [, relative = ""] of text.matchAll(/["'`](\.{1,2}\/[^"'`\n]+)["'`]/g)) {
      queue.push(posix.join(posix.dirname(path), relative));
    }
  }
  return files.filter((file) => found.has(file));
}
