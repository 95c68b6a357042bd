/**
 * Replaces the values of secrets in log entries, errors and outputs by `***`.
 *
 * A regular expression and `indexOf` take quadratic time for hostile values and texts, and their time grows with the
 * number of values. Here each position of a text costs one look-up, and comparisons have a budget.
 */

/** Shorter values occur in ordinary text too often. */
const minLength = 4;
const replacement = "***";

/** Characters that the search of a text may compare. Ordinary texts take a fraction of the base. */
const baseBudget = 65_536;
const budgetPerCharacter = 8;

/** A value as it occurs in texts: as it is, or escaped. */
interface Form {
  text: string;
  /** The middle of the form, by which it is found: the beginning is often shared, such as that of a PEM file. */
  middle: number;
}

interface Budget {
  left: number;
}

export class Redactor {
  /** By the hash of four characters at their middle. */
  readonly #forms = new Map<number, Form[]>();
  /** One bit for each hash. */
  readonly #filter = new Uint32Array(65_536 / 32);
  /** Values that a JSON number may equal. */
  readonly #numbers = new Set<string>();

  constructor(values: Iterable<string>) {
    for (const value of values) {
      if (value.length < minLength) continue;
      const inJson = escaped(value);
      // `console.log` of an object escapes as JSON does, but prints quotes as they are.
      const inspected = inJson.replaceAll('\\"', '"');
      for (const form of new Set([value, inspected, inJson, escaped(inJson), escaped(inspected)]))
        this.#add(form);
      if (/^-?\d/.test(value)) this.#numbers.add(value);
    }
  }

  /** Whether there is nothing to redact. */
  get isEmpty(): boolean {
    return this.#forms.size === 0;
  }

  redact(text: string): string {
    return this.#redact(text, budgetFor(text));
  }

  /** Redacts a value at the end of a text that was cut: only the beginning of the value is left. */
  redactEnd(text: string): string {
    const budget = budgetFor(text);
    let end = text.length;
    for (const { text: form } of [...this.#forms.values()].flat()) {
      const from = Math.max(0, text.length - form.length + 1);
      budget.left -= text.length - from;
      for (let at = text.indexOf(form.slice(0, minLength), from); at !== -1 && at < end; ) {
        budget.left -= text.length - at;
        // Better too much than a part of a value.
        if (budget.left < 0) return replacement;
        if (form.startsWith(text.slice(at))) end = at;
        else at = text.indexOf(form.slice(0, minLength), at + 1);
      }
    }
    return end === text.length ? text : text.slice(0, end) + replacement;
  }

  /**
   * Redacts strings and names in a JSON text, and numbers that equal a value. The result is JSON.
   * @param json - valid JSON
   */
  redactJson(json: string): string {
    const budget = budgetFor(json);
    // Nearly every output ends here.
    if (this.#find(json, budget).length === 0) return json;
    return mapTokens(json, {
      string: (text) => this.#redact(text, budget),
      number: (token) => (this.#numbers.has(token) ? `"${replacement}"` : token),
    });
  }

  #add(text: string): void {
    const middle = (text.length - minLength) >> 1;
    let hash = 0;
    for (let at = middle; at < middle + minLength; at++) hash = nextHash(hash, text.charCodeAt(at));
    const forms = this.#forms.get(hash);
    if (forms === undefined) this.#forms.set(hash, [{ text, middle }]);
    else forms.push({ text, middle });
    this.#filter[hash >> 5] = (this.#filter[hash >> 5] ?? 0) | (1 << (hash & 31));
  }

  #redact(text: string, budget: Budget): string {
    const ranges = this.#find(text, budget);
    if (ranges.length === 0) return text;
    let result = "";
    let end = 0;
    for (let index = 0; index < ranges.length; index += 2) {
      result += text.slice(end, ranges[index]) + replacement;
      end = ranges[index + 1] ?? text.length;
    }
    return result + text.slice(end);
  }

  /** The start and end of each range to redact: disjoint and in order. */
  #find(text: string, budget: Budget): number[] {
    const ranges: number[] = [];
    const filter = this.#filter;
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = nextHash(hash, text.charCodeAt(at));
      if ((((filter[hash >> 5] ?? 0) >> (hash & 31)) & 1) === 0) continue;
      for (const form of this.#forms.get(hash) ?? []) {
        const start = at - minLength + 1 - form.middle;
        if (start < 0) continue;
        if (occursAt(text, start, form.text, budget)) addRange(ranges, start, start + form.text.length);
        if (budget.left >= 0) continue;
        // Better too much than a part of a value.
        addRange(ranges, start, text.length);
        return ranges;
      }
    }
    return ranges;
  }
}

function occursAt(text: string, start: number, form: string, budget: Budget): boolean {
  let same = 0;
  while (same < form.length && text.charCodeAt(start + same) === form.charCodeAt(same)) same++;
  budget.left -= same + 1;
  return same === form.length;
}

/** Appends a range that does not end before the last one begins, and merges it with those that it touches. */
function addRange(ranges: number[], start: number, end: number): void {
  let from = start;
  let to = end;
  while (from <= (ranges.at(-1) ?? -1)) {
    to = Math.max(to, ranges.pop() ?? 0);
    from = Math.min(from, ranges.pop() ?? 0);
  }
  ranges.push(from, to);
}

/** Depends on the last four characters only, because a character leaves the 16 bits after four shifts. */
function nextHash(hash: number, character: number): number {
  return ((hash << 4) ^ character) & 0xffff;
}

function budgetFor(text: string): Budget {
  return { left: baseBudget + budgetPerCharacter * text.length };
}

/** The JSON form of a text, without the quotes. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

interface TokenChanges {
  /** Receives and returns the decoded text. */
  string(text: string): string;
  /** Receives and returns JSON. */
  number(token: string): string;
}

/** Changes tokens of a JSON text. Parsing the whole text would change numbers that exceed the precision of JavaScript. */
function mapTokens(json: string, { string, number }: TokenChanges): string {
  const parts: string[] = [];
  let at = 0;
  for (;;) {
    const open = json.indexOf('"', at);
    const outside = json.slice(at, open === -1 ? json.length : open);
    parts.push(outside.replace(/-?\d[\d.eE+-]*/g, number));
    if (open === -1) return parts.join("");
    let close = open + 1;
    for (; json.charCodeAt(close) !== 0x22; close++) if (json.charCodeAt(close) === 0x5c) close++;
    const token = json.slice(open, close + 1);
    const text = JSON.parse(token) as string;
    const changed = string(text);
    parts.push(changed === text ? token : JSON.stringify(changed));
    at = close + 1;
  }
}
