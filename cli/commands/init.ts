import { mkdir, open, readdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type Command, command } from "../app/command.ts";
import { CliError } from "../app/errors.ts";
import { newProject } from "../project/templates/project.ts";
import { out } from "../terminal/colors.ts";
import { count } from "../terminal/format.ts";
import { say } from "../terminal/report.ts";
import { indent } from "../terminal/table.ts";

const init: Command = command({
  about:
    "The project triages GitHub issues: an agent for one issue, with a webhook and a schedule, and a workflow\nfor many. Existing files are never overwritten.",
  args: {
    dir: { type: "positional", required: false, description: "The folder; the current one when not given" },
  },
  examples: [["svc init my-project", "A new folder with a project in it"]],
  async run(values) {
    const root = resolve(values.dir ?? ".");
    const project = newProject(basename(root));
    const existing = await existingOf(root, Object.keys(project), values.dir ?? ".");
    // Many a folder begins with `git init` and a .gitignore, which is as good as ours.
    const clashes = existing.filter((path) => path !== ".gitignore");
    if (clashes.length > 0) throw clash(clashes, values.dir ?? ".");
    const files = Object.entries(project).filter(([path]) => !existing.includes(path));
    for (const [path, text] of files) {
      const file = join(root, path);
      await mkdir(dirname(file), { recursive: true });
      // `wx`: a file that appears in this very moment is not overwritten either.
      await using handle = await open(file, "wx");
      await handle.writeFile(text);
    }
    const folder = relative(process.cwd(), root);
    say.done(`Wrote ${count(files.length, "file")} to ${folder === "" ? "this folder" : folder}.`);
    for (const [path] of files) say.line(`    ${path}`);
    say.line(`\nNext:\n${indent(nextSteps(folder).join("\n"))}`);
  },
});

function nextSteps(folder: string): string[] {
  const steps = [
    ["svc serve", "in another terminal, unless a service runs already"],
    ["export SVC_API_KEY=<key>", "the key that `svc serve` prints"],
    ["svc push", "deploys the project"],
    ["svc run triage --data samples/triage.json", "runs the agent"],
    ["svc webhook list", "shows where to send GitHub's events"],
  ] as const;
  const enter = folder === "" ? [] : [`cd ${folder.includes(" ") ? JSON.stringify(folder) : folder}`];
  const width = Math.max(...steps.map(([line]) => line.length));
  return [...enter, ...steps.map(([line, meaning]) => `${line.padEnd(width)}   ${out.dim(meaning)}`)];
}

/** Those of the paths at which there is something already. */
async function existingOf(root: string, paths: readonly string[], typed: string): Promise<string[]> {
  const existing: string[] = [];
  for (const path of paths) {
    const names = await readdir(dirname(join(root, path))).catch((error: NodeJS.ErrnoException): string[] => {
      if (error.code === "ENOENT") return [];
      const reason = error.code === "ENOTDIR" ? "there is a file in the way" : error.message;
      throw new CliError(
        `Cannot write a project to ${typed}: ${reason}.`,
        "Name another folder: `svc init <dir>`.",
        { cause: error },
      );
    });
    if (names.includes(basename(path))) existing.push(path);
  }
  return existing;
}

function clash(paths: readonly string[], typed: string): CliError {
  return new CliError(
    `Cannot write a project to ${typed}: ${paths.join(", ")} ${paths.length === 1 ? "exists" : "exist"} already.`,
    "Nothing was written. Name another folder: `svc init <dir>`.",
  );
}

export default init;
