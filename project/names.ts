/** What names, slugs, environments and identifiers look like. */

/** Name of the project file, at the root of the project. */
export const PROJECT_FILE = "svc-project.yaml";

/** Rule for the names of agents, workflows, secrets and environments, and for slugs, in words for messages. */
export const nameRule = "1 to 64 of A-Z a-z 0-9 _ -, first a letter or digit";

/** Whether `text` can name an agent, a workflow, a secret or an environment, or be a slug. See {@link nameRule}. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text);
}

/** What an identifier names: organization, API key, deployment, execution, schedule, upload. */
export const identifierPrefixes = ["org", "key", "dep", "exe", "sch", "upl"] as const;
export type IdentifierPrefix = (typeof identifierPrefixes)[number];

/** Whether `text` is `<prefix>_` and 26 characters of Crockford's base32 in lower case (no `i`, `l`, `o`, `u`). */
export function isIdentifier(prefix: IdentifierPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length + 1));
}
