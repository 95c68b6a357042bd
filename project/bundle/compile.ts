/**
 * Compiles modules that are not erasable TypeScript. A compiled module keeps its path, so that imports and the project file
 * stay valid, and its source map is a file of its own: a comment with the map would make some runtimes apply it, and the
 * runner would apply it again.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type * as Esbuild from "esbuild";
import { mapFolder } from "../names.ts";
import type { CollectedFile } from "../package-file.ts";
import { bundledFile } from "./manifest.ts";

export async function compileModules(
  esbuild: typeof Esbuild,
  root: string,
  modules: readonly CollectedFile[],
): Promise<CollectedFile[]> {
  const experimentalDecorators = usesExperimentalDecorators(root);
  const compiled = modules.map(async ({ path, absolutePath }) => {
    const { code, map } = await esbuild.transform(readFileSync(absolutePath, "utf8"), {
      loader: "ts",
      format: "esm",
      target: "esnext",
      // Also accessors.
      supported: { decorators: false },
      sourcefile: path,
      sourcemap: "external",
      sourcesContent: false,
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true, experimentalDecorators } },
    });
    return [bundledFile(path, Buffer.from(code)), bundledFile(`${mapFolder}/${path}.map`, Buffer.from(map))];
  });
  return (await Promise.all(compiled)).flat();
}

/** Decorators of the older proposal, which some libraries need. */
function usesExperimentalDecorators(root: string): boolean {
  const file = join(root, "tsconfig.json");
  if (!existsSync(file)) return false;
  return /^[^/\n]*"experimentalDecorators"\s*:\s*true/m.test(readFileSync(file, "utf8"));
}
