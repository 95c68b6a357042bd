/** The limits of runners inside bubblewrap, where the server sees another process, folder and exit code. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { Outcome } from "../../server/executions/pool/index.ts";
import { commandRuntimes, root } from "../support/runtimes.ts";
import { Laboratory, runAgent } from "./breakout/laboratory.ts";

const lab = new Laboratory();
const reason = lab.withoutBubblewrap();
if (reason !== null) console.log(`The limits inside bubblewrap are not tested: ${reason}.`);
const hasBubblewrap = reason === null;
afterAll(() => lab.close());

describe.skipIf(!hasBubblewrap).each(commandRuntimes("node"))(
  "a runner on %s inside bubblewrap",
  (runtime) => {
    const exhaust = async (resource: string): Promise<Outcome> => {
      const pools = lab.pools(lab.boundary(runtime, "bwrap"), { memoryBytes: 96 * 2 ** 20 });
      onTestFinished(() => pools.close(0));
      return runAgent(pools, "package", "limits", { resource }, { alone: true });
    };

    test.each(["memory", "files"])("is ended when it exceeds its memory by %s", async (resource) => {
      expect(await exhaust(resource)).toMatchObject({
        type: "failed",
        reason: "memory",
        error: { message: "The runner used more memory than its limit of 96 MiB" },
      });
    });

    test("cannot fill the disk", async () => {
      expect(await exhaust("disk")).toMatchObject({
        type: "failed",
        reason: "thrown",
        error: { message: expect.stringContaining("ENOSPC") },
      });
    });

    test("is reported with the signal that ended it", async () => {
      expect(await exhaust("abort")).toMatchObject({
        type: "failed",
        error: { message: "The runner crashed (signal SIGABRT)" },
      });
    });

    test("does not tell the server's folders in its errors", async () => {
      const outcome = JSON.stringify(await exhaust("paths"));
      expect(outcome).toContain("<runtime> agents/limits.ts <scratch>");
      for (const folder of [lab.folder, root.replace(/\/$/, "")]) expect(outcome).not.toContain(folder);
    });
  },
);

test.skipIf(!hasBubblewrap)("many runners start at the same time, and leave nothing behind", async () => {
  const { pools, scratchRoot } = lab.poolsWithScratch(lab.boundary("bun", "bwrap"), {
    runnersPerDeployment: 12,
  });
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, () =>
      runAgent(pools, "package", "limits", { resource: "nothing" }, { alone: true }),
    ),
  );
  expect(outcomes.map(({ type }) => type)).toEqual(Array.from({ length: 12 }, () => "succeeded"));
  expect(readdirSync(scratchRoot).length).toBeGreaterThan(0);
  await pools.close(0);
  expect(readdirSync(join(scratchRoot))).toEqual([]);
});
