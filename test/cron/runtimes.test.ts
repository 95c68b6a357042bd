import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { rounds } from "../support/rounds.ts";
import { seed } from "./random.ts";
import { type Answers, answer } from "./runtime-check.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const script = "test/cron/runtime-check.ts";
/** The database begins in 1970; the laws of now are most of what changes. */
const year = rounds(0) > 0 ? 1972 : 2015;

/**
 * Zones whose laws changed in releases 2026a to 2026c of the database. Node 24.21 brings 2026c, Deno 2.9.6 and Bun 1.4.4
 * older ones. Nothing can be done about it here but to know: each runtime keeps the clock as well as its data does.
 * A zone that differs and is not in this list is a fault, or a newer release: look it up, and then add it.
 */
const newLaws = new Set([
  "Africa/Casablanca",
  "Africa/El_Aaiun",
  "America/Edmonton",
  "America/Ensenada",
  "America/Santa_Isabel",
  "America/Tijuana",
  "America/Vancouver",
  "America/Yellowknife",
  "Canada/Mountain",
  "Canada/Pacific",
  "Europe/Chisinau",
  "Europe/Tiraspol",
  "Mexico/BajaNorte",
]);

describe.concurrent(`the same answers on each runtime (CRON_SEED=${seed})`, { timeout: 240_000 }, () => {
  const ours = answer(seed, year);

  test.each([
    ["bun", ["run", script]],
    ["deno", ["run", "--allow-env", script]],
  ])("%s", async (runtime, args) => {
    const program = `${root}/node_modules/.bin/${runtime}`;
    const { stdout } = await promisify(execFile)(program, [...args, String(seed), String(year)], {
      cwd: root,
      maxBuffer: 64 * 2 ** 20,
    });
    const theirs = JSON.parse(stdout) as Answers;
    expect([ours.runtime, theirs.runtime]).toEqual(["node", runtime]);
    expect(theirs.runs).toHaveLength(6000);
    expect(firstDifference(theirs.runs, ours.runs)).toBeNull();
    expect(firstDifference(theirs.clockChanges, ours.clockChanges)).toBeNull();
    expect(firstDifference(theirs.zoneNames, ours.zoneNames)).toBeNull();
    expect(theirs.unlikeTemporal).toEqual([]);
    const names = Object.keys(ours.zones);
    expect(names.length).toBeGreaterThan(590);
    expect(
      names.filter((name) => theirs.zones[name] !== ours.zones[name] && !newLaws.has(name)),
      "zones that differ",
    ).toEqual([]);
  });
});

function firstDifference(theirs: string[], ours: string[]): unknown {
  const index = ours.findIndex((line, at) => line !== theirs[at]);
  return index < 0 && theirs.length === ours.length ? null : { theirs: theirs[index], ours: ours[index] };
}
