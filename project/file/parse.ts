/** Parses the project file into a definition, or reports all its problems at once. */
import type { ProjectDefinition, TargetKind } from "../definition.ts";
import type { Problem } from "../problem.ts";
import { readNetwork } from "./network.ts";
import { readOnFailure } from "./on-failure.ts";
import { Report } from "./report.ts";
import { readText } from "./scalars.ts";
import { readSchedules } from "./schedule.ts";
import { readSource } from "./source.ts";
import { readTargets } from "./target.ts";
import { readEnvironments, readVars } from "./vars.ts";
import { View } from "./view.ts";

export { PROJECT_FILE } from "../names.ts";

export type ParsedProject =
  | { definition: ProjectDefinition; problems: [] }
  | { definition: null; problems: Problem[] };

export interface ParseOptions {
  /** Paths of the project's files, relative and with `/`. When given, the module of each target must be among them. */
  files?: ReadonlySet<string>;
}

/**
 * Reads and validates a project file: UTF-8, at most 256 KiB and 50,000 tokens, YAML 1.2. Invalid content is returned as problems and never
 * thrown. Problems are in the order of the file, at most 100.
 */
export function parseProjectFile(bytes: Uint8Array, options: ParseOptions = {}): ParsedProject {
  const read = readSource(bytes);
  if ("problems" in read) return { definition: null, problems: read.problems };
  const { source } = read;
  const report = new Report();
  const root = new View(source.value, "", source.root, source, report);
  const definition = readProject(root, options.files);
  if (definition === null || !report.isEmpty) {
    return { definition: null, problems: report.problems(source.problem) };
  }
  return { definition, problems: [] };
}

function readProject(root: View, files: ReadonlySet<string> | undefined): ProjectDefinition | null {
  if (root.isEmpty) return root.fail("the project file is empty: it needs name and version");
  if (typeof root.value !== "object" || Array.isArray(root.value)) {
    return root.fail(`the project file must be a map, not ${root.description}`);
  }
  const fields = root.fields([
    "name",
    "version",
    "agents",
    "workflows",
    "schedules",
    "network",
    "vars",
    "environments",
    "on_failure",
  ]);
  if (fields === null) return null;
  const nameView = fields.require("name");
  const name = nameView === null ? null : readText(nameView);
  const versionView = fields.require("version");
  const version = versionView === null ? null : readText(versionView);
  const claimed = new Map<string, TargetKind>();
  const agents = readTargets(fields.get("agents"), "agent", files, claimed);
  const workflows = readTargets(fields.get("workflows"), "workflow", files, claimed);
  const schedules = readSchedules(fields.get("schedules"), claimed);
  const networkView = fields.get("network");
  const network = networkView === null ? null : readNetwork(networkView);
  const vars = readVars(fields.get("vars"));
  const environments = readEnvironments(fields.get("environments"), vars);
  const hookView = fields.get("on_failure");
  const onFailure = hookView === null ? null : readOnFailure(hookView, claimed);
  if (name === null || version === null) return null;
  return {
    ...{ name, version, agents, workflows, schedules, network },
    ...(Object.keys(vars).length > 0 && { vars }),
    ...(Object.keys(environments).length > 0 && { environments }),
    ...(onFailure !== null && { onFailure }),
  };
}
