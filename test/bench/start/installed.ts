/** The package as npm installs it: what `npm run build` compiles, in a folder of its own next to its dependencies. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../support/runtimes.ts";

/** Builds the package and installs it below a folder. @returns the path of its launcher */
export function installPackage(folder: string): string {
  const installed = join(folder, "node_modules/svc-agents");
  mkdirSync(installed, { recursive: true });
  execFileSync("npm", ["run", "build"], { cwd: root, stdio: "ignore" });
  const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ filename = "" } = {}] = JSON.parse(packed) as { filename?: string }[];
  execFileSync("tar", ["-xzf", join(folder, filename), "-C", installed, "--strip-components=1"]);
  symlinkSync(join(root, "node_modules"), join(installed, "node_modules"));
  return join(installed, "cli/launcher.js");
}
