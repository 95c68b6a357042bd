/** The packed package of this checkout, which is built once for a run of the suite. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { askEndpoint } from "./endpoints.ts";
import { root } from "./runtimes.ts";

const run = promisify(execFile);

export interface PackedPackage {
  /** A copy of the working tree with the compiled code. Tests only read it. */
  folder: string;
  /** The archive that `npm install` takes. */
  archive: string;
  files: { path: string }[];
  unpackedSize: number;
}

/** The package of this run. @throws Error when it cannot be built */
export async function packedPackage(): Promise<PackedPackage> {
  return JSON.parse(await askEndpoint("package"));
}

/** Builds and packs a copy of the working tree. The caller removes its folder. */
export async function buildPackage(): Promise<PackedPackage> {
  const folder = copyOfRepository(mkdtempSync(join(tmpdir(), "svc-pack-")));
  try {
    await run("npm", ["run", "build"], { cwd: folder });
    const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts"], { cwd: folder });
    const [packed] = JSON.parse(stdout) as {
      filename: string;
      files: { path: string }[];
      unpackedSize: number;
    }[];
    if (packed === undefined) throw new Error(`npm pack printed ${stdout}`);
    const { files, unpackedSize } = packed;
    return { folder, archive: join(folder, packed.filename), files, unpackedSize };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Copies the working tree into a new folder, with a link to its dependencies. */
export function copyOfRepository(copy: string): string {
  const folders = [
    "proto",
    "project",
    "server",
    "cli",
    "client",
    "plugin",
    "bundle",
    "console",
    "docs",
    "templates",
  ];
  for (const name of folders) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  for (const name of [
    "package.json",
    "tsconfig.json",
    "tsconfig.build.json",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "project.schema.json",
  ]) {
    cpSync(join(root, name), join(copy, name));
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}
