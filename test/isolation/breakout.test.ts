/** Attempts to break out of a runner, under every boundary. Their results are what docs/security.md promises. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { root, runtimes } from "../support/runtimes.ts";
import { Laboratory, type Results } from "./breakout/laboratory.ts";
import { type Boundary, promises, results, uncontrolled } from "./breakout/promises.ts";

const lab = new Laboratory();
const reason = lab.withoutBubblewrap();
if (reason !== null) console.log(`No attempts run inside bubblewrap: ${reason}.`);
const hasBubblewrap = reason === null;
const counts: string[] = [];
afterAll(async () => {
  await lab.close();
  console.log(`Breakout attempts: ${counts.join(", ")}.`);
});

const boundaries = runtimes.flatMap((runtime) => [
  { runtime, sandbox: "none" as const, column: runtime as Boundary },
  { runtime, sandbox: "bwrap" as const, column: "bubblewrap" as const },
]);

/** The results of each subject under each column. */
const found: Record<string, Partial<Record<Boundary, string[]>>> = {};

const exceeded = (all: Record<string, Results>, column: Boundary): string[] =>
  Object.entries(all).flatMap(([subject, attempts]) =>
    Object.entries(attempts)
      .filter(([, { result }]) => rank(result) > rank(promises[subject]?.[column] ?? "absent"))
      .map(([name, { result, text }]) => `${subject}, ${name}: ${result} (${text})`),
  );

const rank = (result: (typeof results)[number]): number => results.indexOf(result);

/** The system calls and the files of /proc are those of Linux on x86-64. */
const supported = process.platform === "linux" && process.arch === "x64";
if (!supported) console.log("Breakout attempts run on Linux on x86-64 only.");

describe.skipIf(!supported).each(boundaries)(
  "on $runtime with sandbox $sandbox",
  ({ runtime, sandbox, column }) => {
    test.skipIf(sandbox === "bwrap" && !hasBubblewrap)("no attempt exceeds the promise", async () => {
      const all = await lab.attack(lab.boundary(runtime, sandbox));
      let tried = 0;
      for (const [subject, attempts] of Object.entries(all)) {
        const list = Object.values(attempts).map(({ result }) => result);
        tried += list.filter((result) => result !== "absent").length;
        found[subject] ??= {};
        found[subject][column] = [...(found[subject][column] ?? []), ...list];
      }
      counts.push(
        `${tried} on ${runtime} ${sandbox === "bwrap" ? "inside bubblewrap" : "without a sandbox"}`,
      );
      expect(exceeded(all, column)).toEqual([]);
      expect(tried).toBeGreaterThan(80);
    });
  },
);

test.skipIf(!supported)("each promise is the result of at least one attempt", () => {
  const columns: Boundary[] = hasBubblewrap ? ["bubblewrap", "deno", "node", "bun"] : ["deno", "node", "bun"];
  for (const [subject, row] of Object.entries(promises)) {
    for (const column of columns) {
      const worst = (found[subject]?.[column] ?? []).toSorted(
        (a, b) => results.indexOf(a as never) - results.indexOf(b as never),
      );
      expect(worst.at(-1), `${subject} under ${column}`).toBe(row[column]);
    }
  }
});

/** The attempts themselves are as good as when they were written: `npm run test:runtimes` proves it. */
const provesAttempts = supported && process.env.ALL_RUNTIMES !== undefined;

describe.runIf(provesAttempts)("without a boundary", () => {
  /** Empty for an attempt that has succeeded on a runtime, otherwise its results. */
  const problems = new Map<string, string>();

  test.each(runtimes)("all attempts run on %s", async (runtime) => {
    for (const [subject, attempts] of Object.entries(await lab.attackWithoutBoundary(runtime))) {
      for (const [name, { result, text }] of Object.entries(attempts)) {
        const key = `${subject}, ${name}`;
        if (problems.get(key) === "" || uncontrolled.has(key)) continue;
        const works =
          result === "open" || (result === "contained" && promises[subject]?.bubblewrap === "contained");
        problems.set(key, works ? "" : `${problems.get(key) ?? ""} ${runtime}: ${result} (${text})`);
      }
    }
  });

  test("each attempt succeeds on at least one runtime", () => {
    expect(problems.size).toBeGreaterThan(80);
    expect([...problems].filter(([, problem]) => problem !== "")).toEqual([]);
  });
});

test("docs/security.md states these promises", () => {
  const text = readFileSync(join(root, "docs/security.md"), "utf8");
  const cells = { absent: "–", refused: "refused", contained: "contained", open: "**open**" };
  for (const { row, ...columns } of Object.values(promises)) {
    const line = text.split("\n").find((candidate) => candidate.startsWith(`| ${row} |`));
    const [, , ...stated] = (line ?? "").split("|").map((cell) => cell.trim());
    const expected = (["bubblewrap", "deno", "node", "bun"] as const).map((column) => cells[columns[column]]);
    expect(
      stated.slice(0, 4).map((cell) => cell.replace(/[;,:].*/, "")),
      row,
    ).toEqual(expected);
  }
});
