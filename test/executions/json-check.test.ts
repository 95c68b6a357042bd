/** The check of JSON in pieces agrees with JSON.parse, wherever the pieces are cut. */
import { expect, test } from "vitest";
import { isJson, JsonChecker } from "../../server/executions/pool/json-check.ts";

const random = generator(20_261_120);

test("agrees with JSON.parse on JSON that was damaged in one place", () => {
  const wrong: string[] = [];
  let valid = 0;
  const rounds = 20_000;
  for (let i = 0; i < rounds; i++) {
    const text = damaged(JSON.stringify(someValue(4)));
    const expected = parses(text);
    if (expected) valid += 1;
    if (isJson(text, 64) !== expected || inPieces(text) !== expected) wrong.push(text);
  }
  expect(wrong).toEqual([]);
  // Both answers are tried, each often.
  expect(valid).toBeGreaterThan(rounds / 10);
  expect(valid).toBeLessThan((rounds * 9) / 10);
});

test("agrees with JSON.parse on short texts of its own characters", () => {
  const alphabet = '{}[]:,"\\ /u0019.eE+-truefalsn\n\t\u0000é';
  const wrong: string[] = [];
  for (let i = 0; i < 100_000; i++) {
    const text = Array.from({ length: random(7) }, () => alphabet[random(alphabet.length)]).join("");
    if (isJson(text, 64) !== parses(text)) wrong.push(text);
  }
  expect(wrong).toEqual([]);
});

test("counts levels as arrays and objects within each other", () => {
  expect(isJson("1", 0)).toBe(true);
  expect(isJson("[1]", 0)).toBe(false);
  expect(isJson('[{"a":[]}]', 3)).toBe(true);
  expect(isJson('[{"a":[[]]}]', 3)).toBe(false);
  expect(isJson("[[],[[]],[]]", 3)).toBe(true);
});

test("lets other work in while it checks a large text", async () => {
  const text = JSON.stringify(Array.from({ length: 100_000 }, (_, i) => ({ i, text: "é\n" })));
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 0);
  expect(await isJson(text, 64)).toBe(true);
  expect(await isJson(`${text}]`, 64)).toBe(false);
  expect(await isJson(text.slice(0, -1), 64)).toBe(false);
  clearInterval(counting);
  expect(turns).toBeGreaterThan(0);
});

function inPieces(text: string): boolean {
  const checker = new JsonChecker(64);
  for (let start = 0; start < text.length; ) {
    const end = Math.min(text.length, start + 1 + random(5));
    if (!checker.feed(text.slice(start, end))) return false;
    start = end;
  }
  return checker.end();
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The text, or the text with a character taken out, put in or replaced. */
function damaged(text: string): string {
  const at = random(text.length + 1);
  const other = '{}[]:,"\\0-.e tn'[random(15)] ?? "";
  switch (random(4)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + other + text.slice(at);
    case 2:
      return text.slice(0, at) + other + text.slice(at + 1);
    default:
      return text;
  }
}

function someValue(depth: number): unknown {
  const kind = random(depth > 0 ? 8 : 6);
  if (kind === 0) return null;
  if (kind === 1) return random(2) === 0;
  if (kind === 2) return random(1000) - 500;
  if (kind === 3) return (random(1000) - 500) * 10 ** (random(40) - 20);
  if (kind < 6)
    return Array.from({ length: random(6) }, () => 'aé"\\\n\u0001/€\u{1f600}'[random(10)]).join("");
  const members = Array.from({ length: random(4) }, () => someValue(depth - 1));
  return kind === 6 ? members : Object.fromEntries(members.map((member, i) => [`key ${i}`, member]));
}

/** Whole numbers below a bound, the same ones each time (Lehmer's generator, as in C++'s minstd_rand). */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}
