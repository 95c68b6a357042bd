import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openScratch } from "../../../server/scratch.ts";
import { bin } from "../../support/runtimes.ts";
import { temporaryFolder } from "../../support/store.ts";

test("removes the folders of processes that have ended, and no others", () => {
  const dataDir = temporaryFolder();
  const runners = join(dataDir, "tmp", "runners");
  // Left by a process that was killed.
  mkdirSync(join(runners, "deaddead"), { recursive: true });
  writeFileSync(join(runners, "deaddead", "file"), "");
  writeFileSync(join(runners, "deaddead.lock"), "");
  const first = openScratch(dataDir, "srv_0000000a");
  expect([first.hasEnded("srv_0deaddead"), first.hasEnded("srv_0livelive")]).toEqual([true, false]);
  writeFileSync(join(first.folder, "file"), "");
  const second = openScratch(dataDir, "srv_0000000b");
  expect(existsSync(join(runners, "deaddead"))).toBe(false);
  expect(existsSync(join(first.folder, "file"))).toBe(true);
  expect(second.hasEnded("srv_0000000a")).toBe(false);
  expect(second.folder).not.toBe(first.folder);
  first.release();
  second.release();
  expect(readdirSync(runners)).toEqual([]);
});

test("servers that start and end at once keep their folders", async () => {
  const module = new URL("../../../server/scratch.ts", import.meta.url).href;
  const dataDir = temporaryFolder();
  const program = (letter: string) => `import { existsSync } from "node:fs";
import { openScratch } from ${JSON.stringify(module)};
for (let count = 0; count < 40; count++) {
  const scratch = openScratch(${JSON.stringify(dataDir)}, "srv_${letter}" + String(count).padStart(7, "0"));
  if (!existsSync(scratch.folder)) throw new Error("removed");
  scratch.release();
}`;
  const run = promisify(execFile);
  const starts = [..."abcde"].map((letter) =>
    run(bin("node"), ["--input-type=module", "--eval", program(letter)]),
  );
  await expect(Promise.all(starts)).resolves.toHaveLength(starts.length);
});
