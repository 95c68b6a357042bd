import { isAlias, isMap, isPair, isScalar, isSeq, type Node } from "yaml";
import { maxProjectFileBytes } from "../limits.ts";
import { quoted } from "../problem.ts";
import type { Report } from "./report.ts";

/** The deepest nesting of lists and maps. */
export const maxDepth = 50;

/**
 * The largest size of the content with its aliases expanded: characters of scalars, and 1 for each value. Without aliases
 * no file of the permitted size reaches it.
 */
const maxExpandedSize = 2 * maxProjectFileBytes;

/**
 * Returns the target of each alias. Reports repeated and non-scalar keys, aliases without an anchor or to a node that
 * contains them, and a document that would be too large with its aliases expanded. Does not expand them.
 */
export function checkTree(root: Node | null, report: Report): Map<Node, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  const sizes = new Map<Node, number>();
  let isTooLarge = false;
  const visitAlias = (node: Node & { source: string }): number => {
    const target = anchors.get(node.source);
    if (target === undefined) {
      report.add(offsetOf(node), `the alias "*${node.source}" has no anchor before it`);
      return 1;
    }
    targets.set(node, target);
    const size = sizes.get(target);
    if (size === undefined) report.add(offsetOf(node), `the alias "*${node.source}" contains itself`);
    return size ?? 1;
  };
  const visit = (node: unknown): number => {
    if (isPair(node)) return visit(node.key) + visit(node.value);
    if (isAlias(node)) return visitAlias(node);
    if (!isMap(node) && !isSeq(node) && !isScalar(node)) return 1;
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
    let size = 1 + (isScalar(node) ? (node.source?.length ?? 0) : 0);
    if (!isScalar(node)) {
      if (isMap(node)) checkKeys(node.items, report);
      for (const item of node.items) size += visit(item);
      if (size > maxExpandedSize && !isTooLarge) {
        isTooLarge = true;
        report.add(offsetOf(node), `more than ${maxExpandedSize} characters after its aliases are expanded`);
      }
    }
    sizes.set(node, size);
    return size;
  };
  visit(root);
  return targets;
}

function checkKeys(pairs: { key: unknown }[], report: Report): void {
  const seen = new Set<string>();
  for (const { key } of pairs) {
    const name = isScalar(key) ? String(key.value) : null;
    if (name === null) report.add(offsetOf(key), "a key must be plain text");
    else if (seen.has(name)) report.add(offsetOf(key), `the key ${quoted(name)} is given twice`);
    else seen.add(name);
  }
}

/** The offset of a node in the text, in UTF-16 code units. */
export function offsetOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}
