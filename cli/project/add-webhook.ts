import {
  Document,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  type YAMLMap,
} from "yaml";
import type { TargetKind } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import { columnOf, contentEnd, insertLines, lineBreakOf, lineEnd } from "./insert-lines.ts";

/** A webhook in the form of the project file, with its slug. */
export type WebhookEntry = JsonObject & { slug: string };

/**
 * Adds a webhook to an agent or workflow of a project file and keeps every other character: comments, order, quotes and
 * blank lines.
 *
 * @returns null when the target is not a block map, such as `- { name: a }`, or its webhooks are no block list
 */
export function addWebhook(
  text: string,
  kind: TargetKind,
  name: string,
  webhook: WebhookEntry,
): string | null {
  const target = findTarget(text, `${kind}s`, name);
  const first = target?.items[0];
  if (target == null || target.flow === true || first === undefined) return null;
  const keyColumn = columnOf(text, startOf(first.key));
  const pair = target.items.find((item) => isScalar(item.key) && item.key.value === "webhooks");
  if (pair === undefined) {
    const end = contentEnd(target);
    if (end === null) return null;
    const lines = [`${" ".repeat(keyColumn)}webhooks:`, ...itemLines(webhook, keyColumn + 2)];
    return insertLines(text, lineEnd(text, end), joined(lines, text));
  }
  const list = pair.value;
  if (isScalar(list) && list.value === null) {
    const end = lineEnd(text, contentEnd(pair.key) ?? 0);
    return insertLines(text, end, joined(itemLines(webhook, keyColumn + 2), text));
  }
  if (!isSeq(list) || list.range == null) return null;
  if (list.items.length === 0) {
    // `webhooks: []`
    const before = text.slice(0, list.range[0]).replace(/[ \t]+$/, "");
    const lines = joined(itemLines(webhook, keyColumn + 2), text).replace(/\r?\n$/, "");
    return before + lineBreakOf(text) + lines + text.slice(list.range[1]);
  }
  if (list.flow === true) return null;
  const end = contentEnd(list.items.at(-1)) ?? list.range[1];
  return insertLines(
    text,
    lineEnd(text, end),
    joined(itemLines(webhook, columnOf(text, list.range[0])), text),
  );
}

/** The webhook as an item of a block list. Values other than the mapping and lists of events are in flow style. */
export function itemLines(webhook: WebhookEntry, column: number): string[] {
  const document = new Document(webhook);
  if (!isMap(document.contents)) return [];
  for (const { key, value } of document.contents.items) {
    if (!isCollection(value)) continue;
    const isMapping = isScalar(key) && key.value === "field_mapping";
    value.flow = !isMapping;
    for (const item of isMapping ? value.items : []) {
      if (isPair(item) && isCollection(item.value)) item.value.flow = true;
    }
  }
  const text = document.toString({ lineWidth: 0 }).trimEnd();
  const lines = text.split("\n").map((line) => line.replace(/^(events: )\[ (.*) \]$/, "$1[$2]"));
  return lines.map((line, at) => `${" ".repeat(column)}${at === 0 ? "- " : "  "}${line}`);
}

function findTarget(text: string, key: string, name: string): YAMLMap | null {
  const document = parseDocument(text, { keepSourceTokens: true });
  if (document.errors.length > 0 || !isMap(document.contents)) return null;
  const list: unknown = document.contents.get(key);
  const items: readonly unknown[] = isSeq(list) ? list.items : [];
  for (const item of items) if (isMap(item) && item.get("name") === name) return item;
  return null;
}

function startOf(key: Pair["key"]): number {
  return isScalar(key) ? (key.range?.[0] ?? 0) : 0;
}

function joined(lines: readonly string[], text: string): string {
  return lines.map((line) => line + lineBreakOf(text)).join("");
}
