import { isMap, isScalar, isSeq, type Node } from "yaml";
import { isJsonObject } from "../json.ts";
import { quoted } from "../problem.ts";
import type { Report } from "./report.ts";
import type { Source } from "./source.ts";
import { offsetOf } from "./tree.ts";

/** A value of the project file with its position, which reports its own problems. */
export class View {
  readonly value: unknown;
  /** Its name in messages: `agents[0].timeout`. */
  readonly path: string;
  readonly #node: Node | null;
  readonly #source: Source;
  readonly #report: Report;

  constructor(value: unknown, path: string, node: Node | null, source: Source, report: Report) {
    this.value = value;
    this.path = path;
    this.#node = node;
    this.#source = source;
    this.#report = report;
  }

  /** Reports a problem at this value. Returns null, for readers to return. */
  fail(message: string): null {
    this.#report.add(offsetOf(this.#node), message);
    return null;
  }

  /** ` (did you mean "…"?)` for a mistyped word, or an empty string. */
  didYouMean(word: string, candidates: readonly string[]): string {
    return this.#report.didYouMean(word, candidates);
  }

  /** Whether the file may use this number of comparisons for a suggestion. */
  reserveComparisons(count: number): boolean {
    return this.#report.reserveComparisons(count);
  }

  /** Whether the key has no value. */
  get isEmpty(): boolean {
    return this.value === null || this.value === undefined;
  }

  /** A description of the value, for messages. */
  get description(): string {
    const { value } = this;
    if (value === null || value === undefined) return "nothing";
    if (Array.isArray(value)) return "a list";
    if (typeof value === "object") return "a map";
    if (typeof value === "string") return `the text ${quoted(value)}`;
    if (typeof value === "boolean") return `the truth value ${value}`;
    return `the number ${this.text ?? value}`;
  }

  /** The source text of a scalar. */
  get text(): string | undefined {
    const node = this.#source.resolve(this.#node);
    return isScalar(node) ? node.source : undefined;
  }

  /** The elements of a list, empty when there is no value. Reports any other value and returns null. */
  items(): View[] | null {
    if (this.isEmpty) return [];
    const { value } = this;
    if (!Array.isArray(value)) return this.fail(`${this.path} must be a list, not ${this.description}`);
    const node = this.#source.resolve(this.#node);
    const nodes = isSeq(node) ? node.items : [];
    return value.map((item, index) =>
      this.#child(item, `${this.path}[${index}]`, nodes[index] as Node | null),
    );
  }

  /** The members of a map in the order of the file, empty when there is no value. */
  entries(): { key: string; at: View; view: View }[] | null {
    if (this.isEmpty) return [];
    const { value } = this;
    if (!isJsonObject(value)) return this.fail(`${this.path} must be a map, not ${this.description}`);
    const node = this.#source.resolve(this.#node);
    const entries: { key: string; at: View; view: View }[] = [];
    for (const pair of isMap(node) ? node.items : []) {
      const key = String(isScalar(pair.key) ? pair.key.value : pair.key);
      const at = this.#child(key, key, pair.key as Node | null);
      // confbox and yaml agree on text keys, and may convert other scalars to different text.
      if (!Object.hasOwn(value, key)) at.fail(`the key ${quoted(key)} must be text: put it in quotes`);
      else {
        const path = this.path === "" ? key : `${this.path}.${key}`;
        const target = this.#source.resolve(pair.value as Node | null);
        entries.push({
          key,
          at,
          view: this.#child(value[key], path, target?.range ? (pair.value as Node) : (pair.key as Node)),
        });
      }
    }
    return entries;
  }

  /** A map with known keys. Reports unknown keys, except those that begin with `x-`. */
  fields<Key extends string>(known: readonly Key[]): Fields<Key> | null {
    if (this.isEmpty && this.path !== "") return this.fail(`${this.path} must be a map, not nothing`);
    const entries = this.entries();
    if (entries === null) return null;
    const found = new Map<string, View>();
    for (const { key, at, view } of entries) {
      if ((known as readonly string[]).includes(key)) found.set(key, view);
      else if (key === "<<")
        at.fail('merge keys ("<<") are not part of YAML 1.2: use an alias for the whole value');
      else if (!key.startsWith("x-")) {
        const where = this.path === "" ? "" : ` in ${this.path}`;
        at.fail(`unknown key ${quoted(key)}${where}${at.didYouMean(key, known)}`);
      }
    }
    return {
      get: (key) => found.get(key) ?? null,
      require: (key) => {
        const view = found.get(key);
        if (view !== undefined && !view.isEmpty) return view;
        const name = this.path === "" ? key : `${this.path}.${key}`;
        return (view ?? this).fail(view === undefined ? `${name} is missing` : `${name} must not be empty`);
      },
    };
  }

  #child(value: unknown, path: string, node: Node | null | undefined): View {
    return new View(value, path, node ?? this.#node, this.#source, this.#report);
  }
}

export interface Fields<Key extends string> {
  /** Null when the key is absent. */
  get(key: Key): View | null;
  /** Reports a key that is absent or has no value, and returns null. */
  require(key: Key): View | null;
}
