import { describe, expect, test } from "vitest";
import { LruCache } from "../../server/lru.ts";

describe("LruCache", () => {
  test("evicts the entry that was added first when none was used", () => {
    const cache = new LruCache<string, number>(2);
    for (const [key, value] of [
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ] as const)
      cache.set(key, value);
    expect(["a", "b", "c"].map((key) => cache.get(key))).toEqual([undefined, 2, 3]);
    expect(cache.size).toBe(2);
  });

  test("keeps an entry that was read over one that was added later", () => {
    const cache = new LruCache<string, number>(2);
    cache.set("a", 1);
    cache.set("b", 2);
    expect(cache.get("a")).toBe(1);
    cache.set("c", 3);
    expect(["a", "b", "c"].map((key) => cache.get(key))).toEqual([1, undefined, 3]);
  });

  test("counts a replacement as a use, and evicts nothing for it", () => {
    const cache = new LruCache<string, number>(2);
    cache.set("a", 1);
    cache.set("b", 2);
    cache.set("a", 3);
    expect(cache.size).toBe(2);
    cache.set("c", 4);
    expect(["a", "b", "c"].map((key) => cache.get(key))).toEqual([3, undefined, 4]);
  });

  test("deletes and clears", () => {
    const cache = new LruCache<string, number>(2);
    cache.set("a", 1);
    expect(cache.delete("a")).toBe(true);
    expect(cache.delete("a")).toBe(false);
    cache.set("b", 2);
    cache.clear();
    expect(cache.get("b")).toBeUndefined();
    expect(cache.size).toBe(0);
  });
});
