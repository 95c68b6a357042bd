/** The project file: what reads it, from bytes or from a folder, and what shows its problems. */
export { type ParsedProject, type ParseOptions, PROJECT_FILE, parseProjectFile } from "./file/parse.ts";
export { loadProject } from "./load.ts";
export { formatProblem, type Problem } from "./problem.ts";
