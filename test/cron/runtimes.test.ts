import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { seed } from "./random.ts";
import { type Results, results } from "./runtime-check.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const script = "test/cron/runtime-check.ts";

// Runtimes carry different releases of the time zone database. The sample zones have the same rules in all of them.
describe.concurrent(`every runtime computes the same runs (CRON_SEED=${seed})`, { timeout: 240_000 }, () => {
  const expected = results(seed);

  test.each([
    ["bun", ["run", script]],
    ["deno", ["run", "--allow-env", script]],
  ])("%s", async (runtime, args) => {
    const program = `${root}/node_modules/.bin/${runtime}`;
    const { stdout } = await promisify(execFile)(program, [...args, String(seed)], {
      cwd: root,
      maxBuffer: 64 * 2 ** 20,
    });
    const actual = JSON.parse(stdout) as Results;
    expect([expected.runtime, actual.runtime]).toEqual(["node", runtime]);
    expect(actual.runs).toHaveLength(2000);
    expect(actual.runs).toEqual(expected.runs);
    expect(actual.clockChanges).toEqual(expected.clockChanges);
    expect(actual.zoneNames).toEqual(expected.zoneNames);
  });
});
