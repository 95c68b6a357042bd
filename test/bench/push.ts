/**
 * Compares `svc push --dry-run` with `git ls-files -co --exclude-standard -z | tar --null -T - -cz` on a project of 10,000
 * files and 40 MB. The dry run includes everything but the upload: it checks the project, makes the package, fetches the
 * active deployment, loads every module and prints the plan.
 *
 *     node test/bench/push.ts [node|bun|deno] [pairs]
 *
 * Runs alternate. Each pair gives a ratio, and the median must be at most 1.1. Afterwards the project is pushed, and its
 * package is compared with that of git and tar.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { commandOf, type Runtime, root, runtimes } from "../support/runtimes.ts";
import { TestServer } from "../support/server.ts";

const fileCount = 10_000;
const totalBytes = 40_000_000;
const bound = 1.1;
const modules = join(root, "node_modules");

const runtime: Runtime = runtimes.find((name) => name === process.argv[2]) ?? "node";
const pairs = Math.max(5, Number(process.argv[3] ?? 7));
const folder = mkdtempSync(join(tmpdir(), "svc-bench-push-"));
const server = new TestServer("node");
try {
  const tree = join(folder, "tree");
  writeTree(tree);
  const theirs = join(folder, "theirs.tgz");
  await server.start();
  const svc = (...args: string[]): Run => {
    const [program, ...before] = commandOf(runtime);
    return run(program, [...before, join(root, "cli/launcher.js"), ...args], tree);
  };
  const candidate = (): number => svc("push", "--dry-run").tookMs;
  const line = `git ls-files -co --exclude-standard -z | tar --null -T - -cz > ${theirs}`;
  const baseline = (): number => run("sh", ["-c", line], tree).tookMs;

  candidate();
  baseline();
  const results = Array.from({ length: pairs }, (_, index) => {
    // They take turns in going first, because the second finds a warmer disk cache.
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
  const { deployment_id: id } = JSON.parse(svc("push", "--force", "--json").stdout);
  const ours = join(folder, "ours.tgz");
  svc("deployments", "download", id, "--output", ours);
  compare(ours, theirs);
  const size = (path: string): string => `${(statSync(path).size / 1e6).toFixed(2)} MB`;
  console.log(`packages: ${size(ours)}, git and tar ${size(theirs)}; ${availableParallelism()} cores`);
  console.log(`median ratio ${median.toFixed(2)}, bound ${bound}: ${median <= bound ? "held" : "NOT held"}`);
  process.exitCode = median <= bound ? 0 : 1;
} finally {
  await server.discard(false);
  rmSync(folder, { recursive: true, force: true });
}

/** Writes slices of real sources, which compress as sources do. Every run writes the same tree. */
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

interface Run {
  tookMs: number;
  stdout: string;
}

function run(command: string, args: string[], cwd: string): Run {
  const env = { ...process.env, SVC_BASE_URL: server.url, SVC_API_KEY: server.apiKey };
  const startedAt = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  const tookMs = performance.now() - startedAt;
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
  return { tookMs, stdout };
}

/** Fails unless both packages hold the same files. Only that of git and tar has the `.gitignore` of the root folder. */
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
