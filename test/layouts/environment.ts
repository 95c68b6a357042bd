/** Environments for package managers: the packed package, a registry on loopback, and empty caches. */
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { bin, type Runtime, root } from "../support/runtimes.ts";
import { type Registry, startRegistry } from "./registry.ts";

const run = promisify(execFile);

export interface Outcome {
  code: number | null;
  /** Standard output and standard error. */
  output: string;
  tookMs: number;
}

export interface Environment extends AsyncDisposable {
  folder: string;
  registry: Registry;
  /** Variables with a runtime first on the PATH, and caches that begin empty. */
  variables(runtime: Runtime): Record<string, string>;
  /** Runs a line of shell. */
  shell(runtime: Runtime, line: string, cwd?: string): Promise<Outcome>;
}

/** @param tarball - the packed package; packed now when not given */
export async function openEnvironment(tarball?: string): Promise<Environment> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-layouts-")));
  const packed = tarball ?? (await pack(folder));
  const registry = await startRegistry({ "svc-agents": packed });
  const programs: Record<Runtime, readonly string[]> = {
    node: ["node"],
    bun: ["bun", "bunx"],
    deno: ["deno"],
  };
  for (const [runtime, names] of Object.entries(programs)) {
    mkdirSync(join(folder, "bin", runtime), { recursive: true });
    for (const name of names) symlinkSync(realpathSync(bin(name)), join(folder, "bin", runtime, name));
  }
  const variables = (runtime: Runtime): Record<string, string> => ({
    PATH: [join(folder, "bin", runtime), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
    HOME: join(folder, "home"),
    NO_COLOR: "1",
    NPM_CONFIG_REGISTRY: registry.url,
    npm_config_cache: join(folder, "npm-cache"),
    BUN_INSTALL_CACHE_DIR: join(folder, "bun-cache"),
    DENO_DIR: join(folder, "deno-cache"),
    DENO_NO_UPDATE_CHECK: "1",
    SVC_SANDBOX: "none",
  });
  mkdirSync(join(folder, "home"));
  return {
    folder,
    registry,
    variables,
    shell: (runtime, line, cwd = folder) => shell(line, cwd, variables(runtime)),
    [Symbol.asyncDispose]: () => registry[Symbol.asyncDispose](),
  };
}

/** Builds and packs this package. @returns the path of the archive */
export async function pack(folder: string): Promise<string> {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root });
  const [{ filename = "" } = {}] = JSON.parse(stdout.slice(stdout.indexOf("["))) as { filename?: string }[];
  return join(folder, filename);
}

function shell(line: string, cwd: string, env: Record<string, string>): Promise<Outcome> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", line], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output, tookMs: Math.round(performance.now() - startedAt) }));
  });
}
