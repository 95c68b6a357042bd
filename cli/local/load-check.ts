import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import type { ProjectDefinition, TargetDefinition } from "../../project/definition.ts";
import type { CollectedFile } from "../../project/package-file.ts";
import type { ModuleCheck } from "../../server/executions/pool/index.ts";
import { brokenModules } from "./module-errors.ts";
import { LocalProject } from "./pool.ts";

/**
 * Loads the module of every agent and workflow in the child process that would run it, on this machine's runtime.
 *
 * A copy of 10,000 files takes longer than packaging them. So first only what the modules name is copied; a failure
 * counts when it comes again with every file there.
 *
 * @throws CliError that names the modules that cannot be loaded
 */
export async function checkModules(
  definition: ProjectDefinition,
  files: readonly CollectedFile[],
): Promise<void> {
  const targets = [...definition.agents, ...definition.workflows];
  const named = await namedFiles(targets, files);
  let broken = await brokenAmong(definition, targets, named);
  if (broken.length > 0 && named.length < files.length) {
    const suspects = targets.filter(({ module }) => broken.some((check) => check.module === module));
    broken = await brokenAmong(definition, suspects, files);
  }
  if (broken.length > 0) throw brokenModules(broken);
}

async function brokenAmong(
  definition: ProjectDefinition,
  targets: readonly TargetDefinition[],
  files: readonly CollectedFile[],
): Promise<ModuleCheck[]> {
  if (targets.length === 0) return [];
  const local = await LocalProject.open({ definition, files, secrets: {}, onLog() {} });
  try {
    return await local.check(targets);
  } finally {
    await local.close();
  }
}

/**
 * The modules of the targets, all files that these name by a relative path, and what those name in turn; and whatever
 * is bundled. Texts that look like paths count too: a file too many costs little.
 */
async function namedFiles(
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
    const text = await readFile(file.absolutePath, "utf8");
    for (const [, relative = ""] of text.matchAll(/["'`](\.{1,2}\/[^"'`\n]+)["'`]/g)) {
      queue.push(posix.join(posix.dirname(path), relative));
    }
  }
  return files.filter((file) => found.has(file));
}
