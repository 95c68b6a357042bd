/** Bundles the console for browsers. `npm run build` writes the result to dist/console. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../../console/", import.meta.url));

/** The files of the console by name. */
export async function bundleConsole(): Promise<Map<string, Uint8Array>> {
  const { build } = await import("esbuild");
  const result = await build({
    entryPoints: { app: join(folder, "main.tsx") },
    bundle: true,
    write: false,
    outdir: folder,
    format: "esm",
    target: ["es2022"],
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    legalComments: "none",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "silent",
  });
  const files = result.outputFiles.map(({ path, contents }) => [path.split(/[\\/]/).at(-1) ?? "", contents]);
  for (const name of ["index.html", "icon.svg"]) files.push([name, await readFile(join(folder, name))]);
  return new Map(files as [string, Uint8Array][]);
}

/** Writes the files of the console to a folder. */
export async function writeConsole(target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const [name, body] of await bundleConsole()) await writeFile(join(target, name), body);
}

if (import.meta.main) await writeConsole(process.argv[2] ?? "dist/console");
