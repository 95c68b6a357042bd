/**
 * How long preparing a push takes: 10,000 files and 40 MB, from the start of the process to the finished package, against
 * `git ls-files -co --exclude-standard -z | tar --null -T - -cz` on the same tree.
 *
 *     node test/bench/push.ts [node|bun|deno] [pairs]
 *
 * Both packages are unpacked and compared first. Then runs alternate; each pair gives a ratio, and the median counts.
 * The bound is 1.5.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const fileCount = 10_000;
const totalBytes = 40_000_000;
const bound = 1.5;
const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));

const runtime = process.argv[2] ?? "node";
const pairs = Math.max(5, Number(process.argv[3] ?? 7));
const folder = mkdtempSync(join(tmpdir(), "svc-bench-push-"));
try {
  const tree = join(folder, "tree");
  writeTree(tree);
  const ours = join(folder, "ours.tgz");
  const theirs = join(folder, "theirs.tgz");
  const candidate = (): number =>
    timed(
      join(modules, ".bin", runtime),
      [
        ...(runtime === "deno" ? ["run", "-A", "--quiet"] : []),
        fileURLToPath(new URL("./push-main.ts", import.meta.url)),
        tree,
        ours,
      ],
      folder,
    );
  const line = `git ls-files -co --exclude-standard -z | tar --null -T - -cz > ${theirs}`;
  const baseline = (): number => timed("sh", ["-c", line], tree);

  candidate();
  baseline();
  compare(ours, theirs);
  const results = Array.from({ length: pairs }, (_, index) => {
    // Each goes first every other time: what runs second finds a warmer disk.
    const first = index % 2 === 0 ? candidate() : undefined;
    const baselineMs = baseline();
    const candidateMs = first ?? candidate();
    return { candidateMs, baselineMs, ratio: candidateMs / baselineMs };
  });
  for (const { candidateMs, baselineMs, ratio } of results) {
    console.log(
      `${runtime} ${candidateMs.toFixed(0)} ms, git and tar ${baselineMs.toFixed(0)} ms, ratio ${ratio.toFixed(2)}`,
    );
  }
  const median =
    results.map(({ ratio }) => ratio).toSorted((a, b) => a - b)[Math.floor(pairs / 2)] ?? Number.NaN;
  const size = (path: string): string => `${(statSync(path).size / 1e6).toFixed(2)} MB`;
  console.log(`packages: ${size(ours)}, git and tar ${size(theirs)}; ${availableParallelism()} cores`);
  console.log(`median ratio ${median.toFixed(2)}, bound ${bound}: ${median <= bound ? "held" : "NOT held"}`);
  process.exitCode = median <= bound ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Slices of real sources, so that they compress as sources do; the same in every run. */
function writeTree(tree: string): void {
  const corpus = Buffer.concat(
    ["openai/resources", "zod/v4/core", "ai/dist"].flatMap((path) => {
      const names = readdirSync(join(modules, path)).toSorted();
      return names
        .filter((name) => /\.[cm]?[jt]s$/.test(name))
        .map((name) => readFileSync(join(modules, path, name)));
    }),
  );
  const names: string[] = [];
  let state = 1;
  for (let index = 0; index < fileCount; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const agent = index < 20;
    const path = agent ? `agents/agent${index}.ts` : `agents/lib/${index % 97}/file${index}.txt`;
    if (agent) names.push(`agent${index}`);
    mkdirSync(join(tree, path, ".."), { recursive: true });
    const start = state % (corpus.length - 10_000);
    const text = corpus.subarray(start, start + (totalBytes / fileCount) * (0.5 + (state % 1000) / 1000));
    writeFileSync(join(tree, path), agent ? `export default () => ${index};\n` : text);
  }
  const project = `name: bench\nversion: "1"\nagents:\n${names.map((name) => `  - name: ${name}\n`).join("")}`;
  writeFileSync(join(tree, "svc-project.yaml"), project);
  writeFileSync(join(tree, ".gitignore"), "node_modules/\n*.log\n!keep.log\n/dist/\n");
  execFileSync("git", ["init", "--quiet"], { cwd: tree });
}

function timed(command: string, args: string[], cwd: string): number {
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
  return performance.now() - startedAt;
}

/** Both packages must hold the same files; git's also has the `.gitignore` of the root, which is not deployed. */
function compare(ours: string, theirs: string): void {
  for (const [name, archive] of [
    ["ours", ours],
    ["theirs", theirs],
  ] as const) {
    mkdirSync(join(folder, name));
    execFileSync("tar", ["-xzf", archive, "-C", join(folder, name)]);
  }
  rmSync(join(folder, "theirs", ".gitignore"));
  execFileSync("diff", ["-r", join(folder, "ours"), join(folder, "theirs")]);
}
