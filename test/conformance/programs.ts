/** The programs of the conformance suites, which are not part of this repository. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const programs = {
  connectconformance: { variable: "CONNECTCONFORMANCE", source: "github.com/connectrpc/conformance" },
  h2spec: { variable: "H2SPEC", source: "github.com/summerwind/h2spec" },
} as const;

export type Program = keyof typeof programs;

/** The path of a program, from its variable or the PATH. */
export function findProgram(name: Program): string | null {
  const given = process.env[programs[name].variable];
  if (given) return given;
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

/** The reason for a skipped suite. */
export function absence(name: Program): string {
  const { variable, source } = programs[name];
  return `Skipped: ${name} (${source}) is neither on the PATH nor named by ${variable}.`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
