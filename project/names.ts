/** The file name of the project file, in the root folder of the project. */
export const PROJECT_FILE = "svc-project.yaml";

/** The folder of source maps in a package: the map of `agents/a.ts` is `.svc-maps/agents/a.ts.map`. */
export const mapFolder = ".svc-maps";

/** The rule of {@link isName}, for messages. */
export const nameRule = "1 to 64 of A-Z a-z 0-9 _ -, first a letter or digit";

/** Whether `text` is a valid slug, or name of an agent, workflow, secret or environment. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text);
}
