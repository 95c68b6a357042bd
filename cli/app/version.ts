import { readFile } from "node:fs/promises";

/** The version of the package and the runtime: `svc 0.1.0 (node 24.21.0)`. */
export async function versionText(): Promise<string> {
  // The compiled file is one folder deeper, under `dist`.
  const isBuilt = import.meta.url.endsWith(".js");
  const file = new URL(isBuilt ? "../../../package.json" : "../../package.json", import.meta.url);
  const { version } = JSON.parse(await readFile(file, "utf8")) as { version: string };
  return `svc ${version} (${runtimeText()})`;
}

/** The runtime and its version: `node 24.21.0`. */
export function runtimeText(): string {
  // Bun and Deno also report a Node version, so they are checked first.
  const runtime =
    (["bun", "deno", "node"] as const).find((name) => process.versions[name] !== undefined) ?? "node";
  return `${runtime} ${process.versions[runtime]}`;
}
