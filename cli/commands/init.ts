import { mkdir, open, readdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type Command, command } from "../app/command.ts";
import { CliError } from "../app/errors.ts";
import { newProject } from "../project/templates/project.ts";
import { stdoutColors as colors } from "../terminal/colors.ts";
import { count } from "../terminal/format.ts";
import { report } from "../terminal/report.ts";
import { indent } from "../terminal/table.ts";

export default command({
  details:
    "The project triages GitHub issues. It contains an agent with a webhook and a schedule, and a workflow. Existing files are never overwritten.",
  args: {
    dir: { type: "positional", required: false, description: "Folder of the project (default: this folder)" },
  },
  examples: [["svc init my-project", "Create a project in a new folder"]],
  async run(values) {
    const root = resolve(values.dir ?? ".");
    const project = newProject(basename(root));
    const existing = await existingFiles(root, Object.keys(project), values.dir ?? ".");
    // A .gitignore from `git init` or a repository template stays as it is.
    const conflicts = existing.filter((path) => path !== ".gitignore");
    if (conflicts.length > 0) {
      const verb = conflicts.length === 1 ? "exists" : "exist";
      throw cannotCreate(values.dir ?? ".", `${conflicts.join(", ")} already ${verb}`);
    }
    const files = Object.entries(project).filter(([path]) => !existing.includes(path));
    for (const [path, text] of files) {
      const file = join(root, path);
      await mkdir(dirname(file), { recursive: true });
      // `wx` does not overwrite a file that has appeared since the check.
      await using handle = await open(file, "wx");
      await handle.writeFile(text);
    }
    const folder = relative(process.cwd(), root);
    report.success(`Created ${count(files.length, "file")} in ${folder === "" ? "this folder" : folder}.`);
    for (const [path] of files) report.line(`    ${path}`);
    report.line(`\nNext steps:\n${indent(nextSteps(folder).join("\n"))}`);
  },
}) as Command;

function nextSteps(folder: string): string[] {
  const steps = [
    ["svc serve", "starts a service (other terminal)"],
    ["export SVC_API_KEY=<key>", "uses the key that `svc serve` prints"],
    ["svc push", "deploys the project"],
    ["svc run triage --data samples/triage.json", "runs the agent"],
    ["svc webhook list", "prints the URL for GitHub events"],
  ] as const;
  const enter = folder === "" ? [] : [`cd ${folder.includes(" ") ? JSON.stringify(folder) : folder}`];
  const width = Math.max(...steps.map(([line]) => line.length));
  return [...enter, ...steps.map(([line, purpose]) => `${line.padEnd(width)}  ${colors.dim(purpose)}`)];
}

async function existingFiles(root: string, paths: readonly string[], typed: string): Promise<string[]> {
  const existing: string[] = [];
  for (const path of paths) {
    const names = await readdir(dirname(join(root, path))).catch((error: NodeJS.ErrnoException): string[] => {
      if (error.code === "ENOENT") return [];
      throw cannotCreate(
        typed,
        error.code === "ENOTDIR" ? "part of the path is a file" : error.message,
        error,
      );
    });
    if (names.includes(basename(path))) existing.push(path);
  }
  return existing;
}

function cannotCreate(typed: string, reason: string, cause?: unknown): CliError {
  return new CliError(
    `Cannot create a project in ${typed}: ${reason}.`,
    "No file was written. Choose another folder: `svc init <dir>`.",
    { cause },
  );
}
