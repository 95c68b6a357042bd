import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ProjectDefinition } from "../../project/definition.ts";
import { PROJECT_FILE } from "../../project/file/parse.ts";
import { loadProject } from "../../project/load.ts";
import type { FileProblem, PreparedProject } from "../../project/prepare.ts";
import { formatProblem } from "../../project/problem.ts";
import { CliError } from "../app/errors.ts";
import { count } from "../terminal/format.ts";

/** A project without problems. */
export type CheckedProject = Extract<PreparedProject, { problems: [] }>;

/**
 * Reads and checks the project in a folder: the project file, the files, their imports. Runs none of it.
 *
 * @throws CliError with every problem
 */
export async function checkedProject(root: string): Promise<CheckedProject> {
  requireProjectFile(root);
  const { prepareProject } = await import("../../project/prepare.ts");
  const project = await prepareProject(root);
  if (project.definition === null) throw invalid(project.problems);
  return project;
}

/**
 * Reads the project file in a folder, and looks at nothing else but whether its modules are there.
 *
 * @throws CliError with every problem
 */
export async function readDefinition(root: string): Promise<ProjectDefinition> {
  requireProjectFile(root);
  const { definition, problems } = await loadProject(root);
  if (definition === null) throw invalid(problems.map((problem) => ({ file: PROJECT_FILE, ...problem })));
  return definition;
}

/** @throws CliError when the folder holds no project */
export function requireProjectFile(root: string): void {
  if (existsSync(join(root, PROJECT_FILE))) return;
  throw new CliError(
    `There is no ${PROJECT_FILE} in this folder.`,
    "Go to the folder of the project, or write a new one with `svc init`.",
  );
}

/** What is said of a project that cannot be deployed. */
export function invalid(problems: readonly FileProblem[]): CliError {
  const isConfiguration = problems.some(({ file }) => file === PROJECT_FILE);
  const details = problems.map((problem) => formatProblem(problem.file, problem));
  return isConfiguration
    ? new CliError(
        `Invalid configuration in ${PROJECT_FILE}: ${count(problems.length, "problem")}.`,
        "Check the YAML syntax and the places named above, then repeat.",
        { details },
      )
    : new CliError(
        `The project cannot be deployed as it is: ${count(problems.length, "problem")}.`,
        "Mend the places named above, then repeat.",
        { details },
      );
}
