/** The templates of `svc init`. Their files are in the folder `templates` of this package. */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { packageRoot } from "../../app/package-root.ts";

export interface Template {
  title: string;
  /** The agent or workflow that `svc run` runs first. */
  target: string;
  /** Folders in `templates`. A file of a later one replaces the same file of an earlier one. */
  layers: readonly string[];
  /** Its agents need secrets, which `.env.example` lists. */
  hasSecrets?: boolean;
}

export type TemplateName = "agent" | "workflow" | "github" | "stripe" | "ai";

export const templates: Readonly<Record<TemplateName, Template>> = {
  agent: { title: "An agent with a webhook and a schedule", target: "triage", layers: ["agent"] },
  workflow: {
    title: "A workflow that runs an agent several times",
    target: "triage-backlog",
    layers: ["agent", "workflow"],
  },
  github: {
    title: "An agent that labels new issues on GitHub",
    target: "triage",
    layers: ["github"],
    hasSecrets: true,
  },
  stripe: {
    title: "An agent that reports payments of Stripe",
    target: "payment",
    layers: ["stripe"],
    hasSecrets: true,
  },
  ai: {
    title: "An agent that answers with a language model and tools",
    target: "assistant",
    layers: ["ai"],
    hasSecrets: true,
  },
};

export const templateNames: readonly TemplateName[] = Object.keys(templates) as TemplateName[];

/** Names that npm would not pack, or read as its own. */
const packedNames: Readonly<Record<string, string>> = {
  gitignore: ".gitignore",
  "env.example": ".env.example",
};

/** The files of a template by path, with the project's name. */
export function templateFiles(template: TemplateName, projectName: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const layer of ["common", ...templates[template].layers]) {
    const folder = join(packageRoot, "templates", layer);
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      const path = file
        .slice(folder.length + 1)
        .split(sep)
        .join("/");
      files[packedNames[path] ?? path] = readFileSync(file, "utf8");
    }
  }
  const projectFile = files["svc-project.yaml"] ?? "";
  files["svc-project.yaml"] = projectFile.replace(/^name: .*$/m, `name: ${JSON.stringify(projectName)}`);
  // The order of a folder's entries depends on the runtime.
  return Object.fromEntries(Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
