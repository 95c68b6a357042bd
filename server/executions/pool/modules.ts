/**
 * Makes `svc` and `svc/plugin` importable in an unpacked package.
 *
 * A folder `node_modules/svc` of links resolves in the same way on all three runtimes. Rejected: a resolution hook (Node),
 * an import map (Deno) and a plugin (Bun) are three mechanisms, and each also changes how the package's own `node_modules`
 * resolve. Copies would be stale after an upgrade.
 */
import { randomUUID } from "node:crypto";
import { lstat, mkdir, readFile, readlink, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { errorsFile } from "../runner/protocol.ts";

/** The npm packages that the plugin imports. Their dependencies are found from these. */
const pluginDependencies = ["ofetch"];

/** A problem of a package. The message contains no path of the server. */
export class PackageError extends Error {
  override readonly name: string = "PackageError";
}

interface Provided {
  /** `.ts` in the repository, `.js` once compiled. */
  extension: string;
  authoring: string;
  plugin: string;
  /** Real folder of each npm package that the plugin needs, by name. */
  packages: Map<string, string>;
}

/**
 * Makes `svc` and `svc/plugin` importable in an unpacked package, and marks the package as ESM unless it has a
 * `package.json`. Idempotent. It writes into the folder, which must therefore be a copy of the user's.
 *
 * @param directory - the unpacked package, absolute
 * @returns real paths outside the package that its code needs to read
 * @throws PackageError when the package's `node_modules` is not a folder
 */
export async function provideModules(directory: string): Promise<string[]> {
  provided ??= findProvided();
  const modules = await provided;
  const folder = join(directory, "node_modules");
  await mkdir(folder, { recursive: true });
  if (!(await lstat(folder)).isDirectory()) {
    throw new PackageError(
      "Cannot provide modules to a package: its node_modules must be a folder, not a link",
    );
  }
  await writeFile(join(directory, "package.json"), '{ "type": "module" }\n', { flag: "wx" }).catch(
    unlessCode("EEXIST"),
  );
  await provideSvc(join(folder, "svc"), modules);
  await writeFile(join(directory, errorsFile), 'export { ExecutionError } from "svc";\n');
  return [modules.authoring, modules.plugin, ...modules.packages.values()];
}

let provided: Promise<Provided> | undefined;

/** The API of OpenTelemetry: its folder, which the runner must be able to read, and the URL of its ESM. */
export async function findTracingApi(): Promise<{ folder: string; url: string }> {
  const { folder } = await packageOf("@opentelemetry/api", fileURLToPath(import.meta.url));
  return { folder, url: pathToFileURL(join(folder, "dist", "index.mjs")).href };
}

async function findProvided(): Promise<Provided> {
  const here = fileURLToPath(import.meta.url);
  const root = join(dirname(here), "..", "..", "..");
  const extension = extname(here);
  const packages = new Map<string, string>();
  for (const name of pluginDependencies) await findPackage(name, here, packages);
  return {
    extension,
    authoring: await realpath(join(root, "project", `authoring${extension}`)),
    plugin: await realpath(join(root, "plugin")),
    packages,
  };
}

/**
 * Finds a package and its dependencies as imports of a file do. Deno's cache has no folder `node_modules`, so the folders
 * above the file cannot be searched for one.
 */
async function findPackage(name: string, importer: string, found: Map<string, string>): Promise<void> {
  if (found.has(name)) return;
  const { folder, dependencies } = await packageOf(name, importer);
  found.set(name, folder);
  for (const dependency of dependencies) await findPackage(dependency, join(folder, "package.json"), found);
}

async function packageOf(
  name: string,
  importer: string,
): Promise<{ folder: string; dependencies: string[] }> {
  let entry: string;
  try {
    entry = await realpath(createRequire(importer).resolve(name));
  } catch (cause) {
    throw new Error(`Cannot start a runner, which needs the npm package ${name}: it is not installed`, {
      cause,
    });
  }
  for (let folder = dirname(entry); ; folder = dirname(folder)) {
    const manifest = await readManifest(folder);
    if (manifest?.name === name) return { folder, dependencies: Object.keys(manifest.dependencies ?? {}) };
    if (folder === dirname(folder)) throw new Error(`The npm package ${name} has no package.json`);
  }
}

/** Null when the folder has none. */
async function readManifest(
  folder: string,
): Promise<{ name?: string; dependencies?: Record<string, string> } | null> {
  try {
    return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function provideSvc(target: string, modules: Provided): Promise<void> {
  const { extension } = modules;
  const manifest = `${JSON.stringify({
    name: "svc",
    type: "module",
    exports: {
      ".": `./authoring${extension}`,
      "./plugin": `./plugin/index${extension}`,
    },
  })}\n`;
  const links: [string, string][] = [
    [`authoring${extension}`, modules.authoring],
    ["plugin", modules.plugin],
    // Deno resolves the plugin's imports from the location of the link, Node and Bun from its target.
    ...[...modules.packages].map(([name, path]): [string, string] => [join("node_modules", name), path]),
  ];
  if (await isProvided(target, manifest, links)) return;

  const draft = `${target}-${randomUUID()}`;
  await mkdir(draft);
  await writeFile(join(draft, "package.json"), manifest);
  for (const [name, path] of links) {
    await mkdir(dirname(join(draft, name)), { recursive: true });
    await symlink(path, join(draft, name));
  }
  // Two servers may do this concurrently. The rename of the last one leaves a complete folder.
  for (let attempt = 1; ; attempt++) {
    await rm(target, { recursive: true, force: true });
    try {
      return await rename(draft, target);
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

async function isProvided(target: string, manifest: string, links: [string, string][]): Promise<boolean> {
  try {
    if ((await readFile(join(target, "package.json"), "utf8")) !== manifest) return false;
    for (const [name, path] of links) if ((await readlink(join(target, name))) !== path) return false;
    return true;
  } catch {
    return false;
  }
}

function unlessCode(code: string): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (error.code !== code) throw error;
  };
}
