/** The table of docs/typescript.md: each runtime loads each example, or rejects it. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { commandOf, root, runtimes } from "../support/runtimes.ts";

const page = readFileSync(join(root, "docs/typescript.md"), "utf8");
const rows = [...page.matchAll(/^\| .+ \| `(.+)` \| (yes|no) \| (yes|no) \| (yes|no) \|$/gm)].map(
  ([, code = "", ...answers]) => ({ code, answers }),
);

/** Imports each module given as an argument, and prints whether it was loaded. */
const loader = `
const loaded = [];
for (const file of process.argv.slice(2)) loaded.push(await import(file).then(() => "yes", () => "no"));
console.log(loaded.join(" "));
`;

test("the table is true on every runtime", async () => {
  expect(rows.length).toBeGreaterThan(10);
  const folder = mkdtempSync(join(tmpdir(), "svc-typescript-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "data.json"), '{"a":1}');
  writeFileSync(join(folder, "loader.mjs"), loader);
  for (const [index, { code }] of rows.entries()) {
    writeFileSync(join(folder, `row-${index}.ts`), `${code}\nexport default () => 1;\n`);
  }
  const modules = rows.map((_, index) => `./row-${index}.ts`);
  const columns = await Promise.all(
    runtimes.map(async (runtime) => {
      const [program, ...args] = commandOf(runtime);
      const { stdout } = await promisify(execFile)(program, [...args, "loader.mjs", ...modules], {
        cwd: folder,
      });
      return stdout.trim().split(" ");
    }),
  );
  const measured = rows.map(({ code }, index) => ({ code, answers: columns.map((column) => column[index]) }));
  expect(measured).toEqual(rows);
});
