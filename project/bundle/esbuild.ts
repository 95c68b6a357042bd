import type * as Esbuild from "esbuild";
import type { Problem } from "../problem.ts";

/** A problem of a file of the project, whose path comes with it. */
export interface FileProblem extends Problem {
  /** Relative to the project, with `/`. */
  file: string;
}

let users = 0;

/**
 * Loads esbuild, which only `push` and `test` need, and ends its process when the last who uses it is done: Deno would
 * wait for it for ever.
 *
 * @throws Error when esbuild is not installed
 */
export async function withEsbuild<Result>(
  work: (esbuild: typeof Esbuild) => Promise<Result>,
): Promise<Result> {
  const esbuild = await load();
  users++;
  try {
    return await work(esbuild);
  } finally {
    users--;
    if (users === 0) await esbuild.stop();
  }
}

async function load(): Promise<typeof Esbuild> {
  try {
    return await import("esbuild");
  } catch (error) {
    const message = "Cannot read the imports of the project without esbuild: run `npm install esbuild`.";
    throw new Error(message, { cause: error });
  }
}

/** Runs one build; gives what it makes, or what it complains of. */
export async function build(
  esbuild: typeof Esbuild,
  options: Esbuild.BuildOptions,
): Promise<{ files: Esbuild.OutputFile[]; failures: Esbuild.Message[] }> {
  try {
    const { outputFiles = [] } = await esbuild.build({
      write: false,
      logLevel: "silent",
      logLimit: 0,
      platform: "node",
      format: "esm",
      target: "esnext",
      ...options,
    });
    return { files: outputFiles, failures: [] };
  } catch (error) {
    const failures = (error as Partial<Esbuild.BuildFailure>).errors;
    if (failures === undefined) throw error;
    // Something that a plugin of ours threw.
    for (const { detail } of failures) if (detail instanceof Error) throw detail;
    return { files: [], failures };
  }
}

/** Where a complaint of esbuild stands; it counts columns from 0 and in bytes. */
export function problemAt(location: Esbuild.Location, file: string, message: string): FileProblem {
  const before = Buffer.from(location.lineText).subarray(0, location.column).toString();
  return { file, line: location.line, column: before.length + 1, message, source: location.lineText };
}
