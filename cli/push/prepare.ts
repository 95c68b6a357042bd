import type { ProjectDefinition } from "../../project/definition.ts";
import { type PackedProject, packFiles } from "../../project/pack.ts";
import { loadValidProject } from "../project/load.ts";
import { duration } from "../terminal/format.ts";
import { report } from "../terminal/report.ts";
import { indent } from "../terminal/table.ts";
import { fileLines } from "../views/deployment.ts";

/** A validated and packaged project. */
export interface Prepared {
  definition: ProjectDefinition;
  /** In a temporary file, which is removed when this process exits. */
  packed: PackedProject;
  /**
   * Loads every module in a runner on this machine, and compares the project file with their schemas.
   *
   * @throws CliError with the modules that cannot be loaded, or the problems of the project file
   */
  checkModules(): Promise<void>;
}

/**
 * Validates and packages the project in a folder. Sends nothing.
 *
 * @param options - `verbose` reports every file with its size, and the duration of each step
 * @throws CliError with every problem of the project
 */
export async function prepare(root: string, options: { verbose: boolean }): Promise<Prepared> {
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await work();
    if (options.verbose) report.detail(`${name} in ${duration(performance.now() - startedAt)}.`);
    return result;
  };
  const { definition, files } = await step("Validated the project", () => loadValidProject(root));
  if (options.verbose) report.detail(indent(fileLines(files).join("\n")));
  const packed = await step("Packaged", () => packFiles(files));
  process.once("exit", () => packed.remove());
  return {
    definition,
    packed,
    async checkModules() {
      const { checkModules } = await import("../local/load-check.ts");
      await step("Loaded the modules", () => checkModules(root, definition, files));
    },
  };
}
