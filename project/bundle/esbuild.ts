import type * as Esbuild from "esbuild";
import type { Problem } from "../problem.ts";

/** A problem with the path of its file. */
export interface FileProblem extends Problem {
  /** Relative to the project, with `/`. */
  file: string;
}

let activeCalls = 0;

/**
 * Loads esbuild, which only `push` and `test` need, and stops its process when the last call ends. Otherwise Deno would
 * never exit.
 *
 * @throws Error when esbuild is not installed
 */
export async function withEsbuild<Result>(
  work: (esbuild: typeof Esbuild) => Promise<Result>,
): Promise<Result> {
  const esbuild = await load();
  activeCalls++;
  try {
    return await work(esbuild);
  } finally {
    activeCalls--;
    if (activeCalls === 0) await esbuild.stop();
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

/** Runs a build. Returns its output files, or its errors. */
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
    // An error thrown by a plugin of this project.
    for (const { detail } of failures) if (detail instanceof Error) throw detail;
    return { files: [], failures };
  }
}

/** A problem at a location of esbuild, which counts columns from 0 and in bytes. */
export function problemAt(location: Esbuild.Location, file: string, message: string): FileProblem {
  const before = Buffer.from(location.lineText).subarray(0, location.column).toString();
  return { file, line: location.line, column: before.length + 1, message, source: location.lineText };
}
