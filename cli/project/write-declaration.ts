import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ProjectDefinition } from "../../project/definition.ts";
import { CliError } from "../app/errors.ts";
import { declarationHeader, declarationOf } from "./declaration.ts";

/** In the folder of the project. */
export const declarationFile = "svc-env.d.ts";

/**
 * Writes the declaration file of a project when its content changes.
 *
 * @param options - `check` writes nothing
 * @returns whether the file was, or must be, written
 * @throws CliError when another tool or a person wrote the file
 */
export async function writeDeclaration(
  root: string,
  definition: ProjectDefinition,
  options: { check?: boolean } = {},
): Promise<boolean> {
  const path = join(root, declarationFile);
  const [present, envExample] = await Promise.all([readText(path), readText(join(root, ".env.example"))]);
  const text = declarationOf(definition, envExample ?? "");
  // Git may convert line ends.
  if (present?.replaceAll("\r\n", "\n") === text) return false;
  if (options.check) return true;
  if (present !== null && !present.startsWith(declarationHeader)) {
    throw new CliError(
      `Cannot write ${declarationFile}: \`svc types\` did not write the present file.`,
      "Rename or remove it.",
    );
  }
  await writeFile(path, text);
  return true;
}

/** Writes the file of a project in TypeScript; nothing prevents the push of one that cannot be written. */
export async function updateDeclaration(root: string, definition: ProjectDefinition): Promise<boolean> {
  const isTyped = [...definition.agents, ...definition.workflows].some(({ module }) => /ts$/.test(module));
  return isTyped && (await writeDeclaration(root, definition).catch(() => false));
}

async function readText(path: string): Promise<string | null> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}
