import { describe, expect, test } from "vitest";
import { timeZoneNames } from "../../project/cron/names.ts";
import { checkTimeZone } from "../../project/cron.ts";
import { rounds } from "../support/rounds.ts";
import { seed, seeded } from "./random.ts";
import { zoneQuestions } from "./zone-questions.ts";

test("the list of names is that of the database", () => {
  // 597 names of zones and links in release 2025b, which has not fewer in any later one.
  expect(timeZoneNames.size).toBe(597);
  for (const name of timeZoneNames) {
    expect(name).toMatch(/^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*){0,2}$/);
  }
  // What a runtime lists is a part of it. A name that is missing here has come with a later release: add it.
  expect(Intl.supportedValuesOf("timeZone").filter((name) => !timeZoneNames.has(name))).toEqual([]);
});

test("each name of the list is taken", () => {
  for (const name of timeZoneNames) {
    expect(() => checkTimeZone(name)).not.toThrow();
  }
});

describe("what is refused names the nearest", () => {
  test.each(zoneQuestions)("%s", (name, advice) => {
    if (advice === null) {
      expect(() => checkTimeZone(name)).not.toThrow();
      return;
    }
    expect(() => checkTimeZone(name)).toThrow(/^Cannot use the time zone ".*": it must be .*\.$/s);
    expect(() => checkTimeZone(name)).toThrow(advice);
  });

  test("a letter that is wrong, missing, doubled or in the other case leads back to the name", () => {
    const random = seeded(seed);
    // A name takes 20 ms: each search looks at all of them.
    const share = rounds(0) > 0 ? 1 : 8;
    const names = [...timeZoneNames]
      .filter((name) => name.length > 9 && !name.startsWith("Etc/"))
      .filter((_, index) => index % share === 0);
    let wrong = 0;
    for (const name of names) {
      const place = Math.floor(random() * name.length);
      const letter = name[place] ?? "";
      for (const broken of [
        `${name.slice(0, place)}x${name.slice(place + 1)}`,
        name.slice(0, place) + name.slice(place + 1),
        name.slice(0, place) + letter + name.slice(place),
        name.toLowerCase(),
        name.toUpperCase(),
        ` ${name}\n`,
      ]) {
        if (!timeZoneNames.has(broken)) {
          wrong += errorOf(broken).includes(`did you mean "${name}"?`) ? 0 : 1;
        }
      }
    }
    // Some are as near to another name: `America/Bise` to Boise, `Asia/Katmandu` to Kathmandu.
    expect(wrong / (names.length * 6), `CRON_SEED=${seed}`).toBeLessThan(0.02);
  });

  test("a name of a megabyte is refused at once, and not repeated", () => {
    const started = performance.now();
    expect(errorOf("Europe/".repeat(150_000)).length).toBeLessThan(300);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

function errorOf(name: string): string {
  try {
    checkTimeZone(name);
    return "";
  } catch (error) {
    return String(error);
  }
}
