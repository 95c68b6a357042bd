import { type TemplateName, templateFiles } from "./index.ts";
import { type Dependency, packageJson, type Runtime } from "./package-json.ts";

export interface NewProject {
  /** Name of the folder. It becomes the project's name without characters that a name cannot have. */
  folder: string;
  template: TemplateName;
  /** The runtime whose commands the scripts use. */
  runtime: Runtime;
  /** This package. */
  svc: Dependency;
}

/** The files of a new project by path. */
export function newProject({ folder, template, runtime, svc }: NewProject): Record<string, string> {
  const name = folder.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[-_]+|-+$/g, "") || "my-project";
  const projectName = name.slice(0, 64);
  return {
    "package.json": packageJson({ name: projectName, runtime, svc }),
    ...templateFiles(template, projectName),
  };
}
