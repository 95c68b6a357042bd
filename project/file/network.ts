import { hostPatternRule, parseHostPattern } from "../hosts.ts";
import { quoted } from "../problem.ts";
import { readText } from "./scalars.ts";
import type { View } from "./view.ts";

/** The largest number of hosts in `network`. */
export const maxHosts = 100;

/** Reads `network`. A key without a value is a problem: it could mean either no restriction or no host. */
export function readNetwork(view: View): string[] | null {
  if (view.isEmpty) return view.fail(`${view.path} must be a list: write [] to allow no host`);
  const items = view.items();
  if (items === null) return null;
  if (items.length > maxHosts) {
    return view.fail(`${view.path} may have at most ${maxHosts} hosts, not ${items.length}`);
  }
  const hosts: string[] = [];
  for (const item of items) {
    const text = readText(item);
    if (text === null) continue;
    if (parseHostPattern(text) !== null) hosts.push(text.toLowerCase());
    else item.fail(`${item.path} must be ${hostPatternRule}, not ${quoted(text)}`);
  }
  return hosts.length === items.length ? hosts : null;
}
