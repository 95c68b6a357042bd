import type { TargetKind } from "../definition.ts";

const extensions = ["ts", "mts", "js", "mjs"] as const;

/**
 * The module of an agent or workflow: `agents/<name>.{ts,mts,js,mjs}`, else `agents/<name>/index.*` with the same
 * extensions. Returns the first that is in `files`, or null. Without `files`, returns the first candidate.
 */
export function findModule(
  kind: TargetKind,
  name: string,
  files: ReadonlySet<string> | undefined,
): string | null {
  const stem = `${kind}s/${name}`;
  const candidates = [
    ...extensions.map((extension) => `${stem}.${extension}`),
    ...extensions.map((extension) => `${stem}/index.${extension}`),
  ];
  return candidates.find((candidate) => files === undefined || files.has(candidate)) ?? null;
}

/** The candidates for the module, for messages. */
export function moduleCandidates(kind: TargetKind, name: string): string {
  const any = `{${extensions.join(",")}}`;
  return `${kind}s/${name}.${any} or ${kind}s/${name}/index.${any}, not ignored by .gitignore`;
}
