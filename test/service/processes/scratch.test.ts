import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openScratch } from "../../../server/scratch.ts";
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
