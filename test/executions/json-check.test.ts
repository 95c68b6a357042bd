import { expect, test } from "vitest";
import { isJson } from "../../server/executions/pool/json-check.ts";
import { usedMs } from "../support/used-time.ts";

test("rejects text that is not JSON", () => {
  for (const text of ["", "{", "[1,]", "01", "'a'", '"a', "undefined", "[] []", `${"[".repeat(200)}`]) {
    expect(isJson(text, 64), text).toBe(false);
  }
});

test("counts nested arrays and objects", () => {
  const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}${"]}".repeat(levels / 2)}`;
  expect(isJson(nested(64), 64)).toBe(true);
  expect(isJson(nested(66), 64)).toBe(false);
  expect(isJson('[{"a":[]}]', 3)).toBe(true);
  expect(isJson('[{"a":[[]]}]', 3)).toBe(false);
  expect(isJson("[[],[[]],[]]", 3)).toBe(true);
});

test("does not count brackets in strings", () => {
  const text = "[{".repeat(200);
  expect(isJson(JSON.stringify([text, `\\"${text}`, `${text}\\`, { [text]: text }]), 2)).toBe(true);
});

test("rejects a megabyte of nested brackets before it is parsed", () => {
  const text = "[".repeat(2 ** 20);
  expect(usedMs(() => expect(isJson(text, 64)).toBe(false))).toBeLessThan(50);
});
