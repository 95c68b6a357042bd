import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CollectError, collectProject } from "../../project/collect.ts";
import type { ProjectDefinition } from "../../project/definition.ts";
import { PROJECT_FILE, parseProjectFile } from "../../project/file/parse.ts";
import { type PackedProject, packFiles } from "../../project/pack.ts";
import type { CollectedFile } from "../../project/package-file.ts";
import { formatProblem } from "../../project/problem.ts";
import { CliError } from "../errors.ts";
import type { PlannedFile } from "../plan/sides.ts";
import { say } from "../say.ts";
import { bytes, cleanLine, count, duration } from "../text.ts";

/** How many files are read at the same time. */
const filesAtOnce = 32;

/** A project that has been checked and packaged. */
export interface Prepared {
  definition: ProjectDefinition;
  /** In a temporary file, which goes when this process does. */
  packed: PackedProject;
  /** The digest of each file, to compare with what is deployed. */
  fileDigests(): Promise<PlannedFile[]>;
}

/**
 * Checks the project in a folder and packages it. Nothing is sent.
 *
 * @param options - `verbose` lists every file with its size, and the time of each step
 * @throws CliError `Invalid configuration in svc-project.yaml`, with every problem
 */
export async function prepare(root: string, options: { verbose: boolean }): Promise<Prepared> {
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await work();
    if (options.verbose) say.detail(`${name} in ${duration(performance.now() - startedAt)}.`);
    return result;
  };
  const projectFile = await readProjectFile(root);
  const files = await step("Collected the files", () => collect(root));
  const definition = check(projectFile, files);
  if (options.verbose) listFiles(files);
  const packed = await step("Packaged", () => packFiles(files));
  process.once("exit", () => packed.remove());
  return { definition, packed, fileDigests: () => digestsOf(files) };
}

async function readProjectFile(root: string): Promise<Uint8Array> {
  try {
    return await readFile(join(root, PROJECT_FILE));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      throw new CliError(
        `There is no ${PROJECT_FILE} in this folder.`,
        "Go to the folder of the project, or write a new one with `svc init`.",
      );
    }
    throw new CliError(`Cannot read ${PROJECT_FILE}: ${cleanLine(message)}.`, "Check its permissions.");
  }
}

async function collect(root: string): Promise<CollectedFile[]> {
  try {
    return await collectProject(root);
  } catch (error) {
    if (!(error instanceof CollectError)) throw error;
    throw new CliError(
      `Cannot package the project: ${count(error.mistakes.length, "file")} cannot be deployed as it is.`,
      "Change these files, or name them in .gitignore.",
      { details: error.mistakes.map(({ path, message }) => cleanLine(`${path}: ${message}`)), cause: error },
    );
  }
}

function check(projectFile: Uint8Array, files: readonly CollectedFile[]): ProjectDefinition {
  const { definition, problems } = parseProjectFile(projectFile, {
    files: new Set(files.map(({ path }) => path)),
  });
  if (definition !== null) return definition;
  throw new CliError(
    `Invalid configuration in ${PROJECT_FILE}: ${count(problems.length, "problem")}.`,
    "Check the YAML syntax and the places named above, then push again.",
    { details: problems.map((problem) => formatProblem(PROJECT_FILE, problem)) },
  );
}

function listFiles(files: readonly CollectedFile[]): void {
  const sizes = files.map(({ sizeBytes }) => bytes(sizeBytes));
  const width = Math.max(0, ...sizes.map((size) => size.length));
  for (const [index, { path }] of files.entries()) {
    say.detail(`  ${(sizes[index] ?? "").padStart(width)}  ${cleanLine(path)}`);
  }
}

/** A few files at a time: a process may only hold so many open. */
async function digestsOf(files: readonly CollectedFile[]): Promise<PlannedFile[]> {
  const digests: PlannedFile[] = [];
  for (let start = 0; start < files.length; start += filesAtOnce) {
    digests.push(...(await Promise.all(files.slice(start, start + filesAtOnce).map(digestOf))));
  }
  return digests;
}

async function digestOf({ path, absolutePath, content }: CollectedFile): Promise<PlannedFile> {
  const hash = createHash("sha256").update(content ?? (await readFile(absolutePath)));
  return { path, digest: hash.digest("hex") };
}
