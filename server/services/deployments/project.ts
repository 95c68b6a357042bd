/** Reads and checks the project of a package. */
import type { ConnectError } from "@connectrpc/connect";
import type { ProjectDefinition } from "../../../project/definition.ts";
import { readProjectFile } from "../../../project/file/read.ts";
import { inputProblems, inputsToCheck } from "../../../project/inputs/problems.ts";
import { loadProject } from "../../../project/load.ts";
import { PROJECT_FILE } from "../../../project/names.ts";
import { formatProblem, type Problem } from "../../../project/problem.ts";
import { badRequest } from "../../errors/details.ts";
import { fail } from "../../errors.ts";
import type { ModuleCheck } from "../../executions/pool/contract.ts";
import type { App } from "../app.ts";

/** Timeout for loading one module. */
const loadTimeoutMs = 20_000;

/** @throws ConnectError `invalid_argument` with all problems of the project file */
export async function readDefinition(directory: string): Promise<ProjectDefinition> {
  const { definition, problems } = await loadProject(directory);
  if (definition !== null) return definition;
  throw invalidProject(problems);
}

function invalidProject(problems: readonly Problem[]): ConnectError {
  const list = problems.map((problem) => formatProblem(PROJECT_FILE, problem)).join("\n");
  const violations = problems.map(({ line, column, message }) => ({
    field: line === 0 ? PROJECT_FILE : `${PROJECT_FILE}:${line}:${column}`,
    description: message,
    reason: "PROJECT_FILE",
  }));
  return fail("PROJECT_INVALID", `Invalid configuration in ${PROJECT_FILE}\n${list}`, {
    details: [badRequest(violations)],
  });
}

/** Loads every module in a runner, and checks the inputs of schedules with their schemas. */
export async function checkModules(
  app: App,
  deploymentId: string,
  directory: string,
  definition: ProjectDefinition,
): Promise<ModuleCheck[]> {
  const modules = [...definition.agents, ...definition.workflows].map((target) => target.module);
  const checks = await app.pools.check(
    { deploymentId, directory },
    modules,
    loadTimeoutMs,
    inputsToCheck(definition),
  );
  const broken = checks.filter((check) => !check.ok);
  if (broken.length === 0) return checks;
  const violations = broken.map(({ module, error }) => ({
    field: error?.file === undefined ? module : `${error.file}:${error.line ?? 1}`,
    description: `${error?.name ?? "Error"}: ${error?.message ?? "the module cannot be loaded"}`,
    reason: "MODULE",
  }));
  const list = violations.map(({ field, description }) => `${field}: ${description}`);
  throw fail("MODULES_INVALID", `Cannot load the project's modules:\n${list.join("\n")}`, {
    details: [badRequest(violations)],
  });
}

/** @throws ConnectError when a field mapping or the input of a schedule does not fit the schema of its target */
export async function checkInputs(
  directory: string,
  definition: ProjectDefinition,
  checks: readonly ModuleCheck[],
): Promise<void> {
  const read = await readProjectFile(directory);
  const problems = "problems" in read ? read.problems : inputProblems(read.bytes, definition, checks);
  if (problems.length > 0) throw invalidProject(problems);
}
