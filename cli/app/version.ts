import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "./package-root.ts";

/** The version of the package and the runtime: `svc 0.1.0 (node 24.21.0)`. */
export async function versionText(): Promise<string> {
  return `svc ${await packageVersion()} (${runtimeText()})`;
}

export async function packageVersion(): Promise<string> {
  const text = await readFile(join(packageRoot, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** The runtime and its version: `node 24.21.0`. */
export function runtimeText(): string {
  const name = runtimeName();
  return `${name} ${process.versions[name]}`;
}

export function runtimeName(): "node" | "bun" | "deno" {
  // Bun and Deno also report a Node version, so they are checked first.
  return (["bun", "deno", "node"] as const).find((name) => process.versions[name] !== undefined) ?? "node";
}
