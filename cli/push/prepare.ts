import type { ProjectDefinition } from "../../project/definition.ts";
import { type PackedProject, packFiles } from "../../project/pack.ts";
import type { CollectedFile } from "../../project/package-file.ts";
import { checkedProject } from "../project/load.ts";
import { bytes, cleanLine, duration } from "../terminal/format.ts";
import { say } from "../terminal/report.ts";

/** A project that has been checked and packaged. */
export interface Prepared {
  definition: ProjectDefinition;
  /** In a temporary file, which is removed when this process exits. */
  packed: PackedProject;
  /**
   * Loads every module in a runner on this machine.
   *
   * @throws CliError with the modules that cannot be loaded
   */
  checkModules(): Promise<void>;
}

/**
 * Checks the project in a folder and packages it. Nothing is sent.
 *
 * @param options - `verbose` lists every file with its size, and the time of each step
 * @throws CliError with every problem of the project
 */
export async function prepare(root: string, options: { verbose: boolean }): Promise<Prepared> {
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await work();
    if (options.verbose) say.detail(`${name} in ${duration(performance.now() - startedAt)}.`);
    return result;
  };
  const { definition, files } = await step("Checked the project", () => checkedProject(root));
  if (options.verbose) listFiles(files);
  const packed = await step("Packaged", () => packFiles(files));
  process.once("exit", () => packed.remove());
  return {
    definition,
    packed,
    async checkModules() {
      const { checkModules } = await import("../local/load-check.ts");
      await step("Loaded the modules", () => checkModules(definition, files));
    },
  };
}

function listFiles(files: readonly CollectedFile[]): void {
  const sizes = files.map(({ sizeBytes }) => bytes(sizeBytes));
  const width = Math.max(0, ...sizes.map((size) => size.length));
  for (const [index, { path }] of files.entries()) {
    say.detail(`  ${(sizes[index] ?? "").padStart(width)}  ${cleanLine(path)}`);
  }
}
