import { loadProject } from "../../project/load.ts";
import { projectFolder } from "../project/folder.ts";

/** The agents and workflows of the project in this folder; none without a valid project. */
export async function targetNames(): Promise<{ name: string; kind: string }[]> {
  try {
    const { definition } = await loadProject(projectFolder());
    return definition === null ? [] : [...definition.agents, ...definition.workflows];
  } catch {
    // A suggestion must not fail because of a file.
    return [];
  }
}
