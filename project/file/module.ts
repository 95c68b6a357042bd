import type { TargetKind } from "../definition.ts";

const extensions = ["ts", "mts", "js", "mjs"] as const;

/**
 * The module of an agent or workflow: `agents/<name>.{ts,mts,js,mjs}`, else `agents/<name>/index.*` with the same
 * extensions; the first that is among `files`. Null when none is; without `files`, the first that it could be.
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

/** The same in words, for messages. */
export function moduleCandidates(kind: TargetKind, name: string): string {
  const any = `{${extensions.join(",")}}`;
  return `${kind}s/${name}.${any} or ${kind}s/${name}/index.${any}, not ignored by .gitignore`;
}
