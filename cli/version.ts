import { readFile } from "node:fs/promises";

/** The version in the package's own `package.json`, which is one folder up from the sources and two from `dist/cli`. */
export async function version(): Promise<string> {
  const isBuilt = import.meta.url.endsWith(".js");
  const file = new URL(isBuilt ? "../../package.json" : "../package.json", import.meta.url);
  const { version } = JSON.parse(await readFile(file, "utf8")) as { version: string };
  return version;
}
