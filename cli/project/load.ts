import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BundleCache } from "../../project/bundle/cache.ts";
import type { ProjectDefinition } from "../../project/definition.ts";
import { PROJECT_FILE } from "../../project/file/parse.ts";
import { loadProject } from "../../project/load.ts";
import type { FileProblem, PreparedProject } from "../../project/prepare.ts";
import { formatProblem } from "../../project/problem.ts";
import { CliError } from "../app/errors.ts";
import { count } from "../terminal/format.ts";
import { projectFolder } from "./folder.ts";

/** A project without problems. */
export type ValidProject = Extract<PreparedProject, { problems: [] }>;

/**
 * Reads and validates the project in a folder: the project file, the files and their imports. Runs no code of it.
 *
 * @param cache - of earlier calls for the same project
 * @throws CliError with every problem
 */
export async function loadValidProject(root: string, cache?: BundleCache): Promise<ValidProject> {
  requireProjectFile(root);
  const { prepareProject } = await import("../../project/prepare.ts");
  const project = await prepareProject(root, cache);
  if (project.definition === null) throw invalidProject(project.problems);
  return project;
}

/**
 * Reads and validates only the project file in a folder, including that each module exists.
 *
 * @throws CliError with every problem
 */
export async function readDefinition(root: string): Promise<ProjectDefinition> {
  requireProjectFile(root);
  const { definition, problems } = await loadProject(root);
  if (definition === null) {
    throw invalidProject(problems.map((problem) => ({ file: PROJECT_FILE, ...problem })));
  }
  return definition;
}

/**
 * The name in the project file of this folder or a parent folder; undefined without a project file.
 *
 * @throws CliError when the project file is invalid: a command must not guess another project
 */
export async function currentProject(): Promise<string | undefined> {
  const root = projectFolder();
  if (!existsSync(join(root, PROJECT_FILE))) return undefined;
  const { definition, problems } = await loadProject(root);
  if (definition !== null) return definition.name;
  const inFile = problems.map((problem) => ({ file: PROJECT_FILE, ...problem }));
  throw invalidProject(inFile, "Fix the reported problems, or name the project with --project.");
}

/** @throws CliError when the folder has no project file */
export function requireProjectFile(root: string): void {
  if (existsSync(join(root, PROJECT_FILE))) return;
  throw new CliError(
    `There is no ${PROJECT_FILE} in this folder or a parent folder.`,
    "Change to the folder of the project, or create a project with `svc init`.",
  );
}

const fixProblems = "Fix the reported problems and run the command again.";

/**
 * The error for problems of a project.
 *
 * @param advice - replaces the general advice about the project file
 */
export function invalidProject(problems: readonly FileProblem[], advice?: string): CliError {
  const isConfiguration = problems.some(({ file }) => file === PROJECT_FILE);
  const number = count(problems.length, "problem");
  return new CliError(
    isConfiguration
      ? `Invalid configuration in ${PROJECT_FILE}: ${number}.`
      : `The project cannot be deployed: ${number}.`,
    isConfiguration ? (advice ?? fixProblems) : fixProblems,
    { details: problems.map((problem) => formatProblem(problem.file, problem)) },
  );
}
