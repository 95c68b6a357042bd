import type { Group, Leaf } from "./command-table.ts";

/** Finds a command by its name, or a group by the singular or plural of its name: `svc execution list`. */
export function find({ commands }: Group, typed: string): [name: string, entry: Leaf | Group] | null {
  const otherNumber = typed.endsWith("s") ? typed.slice(0, -1) : `${typed}s`;
  for (const name of [typed, otherNumber]) {
    const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (entry !== undefined && (name === typed || !("load" in entry))) return [name, entry];
  }
  return null;
}
