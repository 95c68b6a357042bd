import { describe, expect, test } from "vitest";
import { checkTimeZone } from "../../project/cron.ts";
import { rounds } from "../support/rounds.ts";
import { usedMs } from "../support/used-time.ts";
import { seed, seeded } from "./random.ts";
import { zoneNames } from "./zone-names.ts";

test("accepts every zone that the runtime lists", () => {
  for (const name of Intl.supportedValuesOf("timeZone")) {
    expect(() => checkTimeZone(name)).not.toThrow();
  }
});

describe("names", () => {
  test.each(zoneNames)("%s", (name, advice) => {
    if (advice === null) {
      expect(() => checkTimeZone(name)).not.toThrow();
      return;
    }
    expect(() => checkTimeZone(name)).toThrow(/^Cannot use the time zone ".*": it must be .*\.$/s);
    expect(() => checkTimeZone(name)).toThrow(advice);
  });

  test("suggests the name when one letter is wrong, missing or doubled", () => {
    const random = seeded(seed);
    // Each search compares all names and takes milliseconds.
    const share = rounds(0) > 0 ? 1 : 8;
    const names = Intl.supportedValuesOf("timeZone")
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
      ]) {
        const message = errorOf(broken);
        wrong += message === "" || message.includes(`did you mean "${name}"?`) ? 0 : 1;
      }
    }
    // Some are as near to another name: `America/Bise` to Boise, `Asia/Katmandu` to Kathmandu.
    expect(wrong / (names.length * 3), `CRON_SEED=${seed}`).toBeLessThan(0.02);
  });

  test("a name of a megabyte is rejected at once and not repeated in the message", () => {
    const took = usedMs(() => expect(errorOf("Europe/".repeat(150_000)).length).toBeLessThan(300));
    expect(took).toBeLessThan(1000);
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
