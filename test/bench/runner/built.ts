/** The built package, as npm installs it, in a folder of its own next to its dependencies. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../support/runtimes.ts";

/** Builds the package below a folder. @returns the path of its launcher */
export function builtLauncher(folder: string): string {
  const installed = join(folder, "node_modules/svc-agents");
  mkdirSync(installed, { recursive: true });
  execFileSync("npm", ["run", "build"], { cwd: root, stdio: "ignore" });
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const packed = execFileSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ filename = "" } = {}] = JSON.parse(packed) as { filename?: string }[];
  execFileSync("tar", ["-xzf", join(folder, filename), "-C", installed, "--strip-components=1"]);
  symlinkSync(join(root, "node_modules"), join(installed, "node_modules"));
  return join(installed, "cli/launcher.js");
}
