/**
 * Compares `svc push --dry-run` with `git ls-files -co --exclude-standard -z | tar --null -T - -cz` on a project of 10,000
 * files and 40 MB. The dry run includes everything but the upload: it checks the project, makes the package, fetches the
 * active deployment, loads every module and prints the plan.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandOf, root } from "../../../support/runtimes.ts";
import { TestServer } from "../../../support/server.ts";
import type { Goal, Options, Row } from "../../runner/case.ts";
import { interleave } from "../../runner/interleave.ts";
import { withFolder } from "../../runner/server.ts";

const fileCount = 10_000;
const totalBytes = 40_000_000;
const modules = join(root, "node_modules");
const other = "git and tar";

export async function run({ rounds }: Options): Promise<Row[]> {
  return withFolder(async (folder) => {
    const server = new TestServer("node");
    try {
      await server.start();
      const tree = join(folder, "tree");
      writeTree(tree);
      const theirs = join(folder, "theirs.tgz");
      const svc = (...args: string[]): Run => {
        const [program, ...before] = commandOf("node");
        return start(server, program, [...before, join(root, "cli/launcher.js"), ...args], tree);
      };
      const line = `git ls-files -co --exclude-standard -z | tar --null -T - -cz > ${theirs}`;
      const programs = await interleave(
        {
          svc: async () => svc("push", "--dry-run").tookMs,
          [other]: async () => start(server, "sh", ["-c", line], tree).tookMs,
        },
        { rounds, warmUps: 1 },
      );
      const { deployment_id: id } = JSON.parse(svc("push", "--force", "--json").stdout);
      const ours = join(folder, "ours.tgz");
      svc("deployments", "download", id, "--output", ours);
      compare(folder, ours, theirs);
      const goals: Goal[] = [{ program: other, of: "ratio", atMost: 1.1 }];
      return [{ what: "`svc push --dry-run`, 10,000 files of 40 MB", unit: "ms", programs, goals }];
    } finally {
      await server.discard(false);
    }
  });
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

function start(server: TestServer, command: string, args: string[], cwd: string): Run {
  const env = { ...process.env, SVC_BASE_URL: server.url, SVC_API_KEY: server.apiKey };
  const startedAt = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  const tookMs = performance.now() - startedAt;
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
  return { tookMs, stdout };
}

/** Fails unless both packages hold the same files. Only that of git and tar has the `.gitignore` of the root folder. */
function compare(folder: string, ours: string, theirs: string): void {
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
