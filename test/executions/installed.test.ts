/** The installed package: compiled and under `node_modules`, where Node does not strip types and Deno resolves differently. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bin, commandOf, root, runtimes } from "../support/runtimes.ts";

const run = promisify(execFile);

let folder: string;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-installed-")));
  const installed = join(folder, "node_modules", "svc");
  mkdirSync(installed, { recursive: true });
  for (const name of ["ofetch", "destr", "ufo", "node-fetch-native"]) {
    cpSync(join(root, "node_modules", name), join(folder, "node_modules", name), { recursive: true });
  }
  cpSync(join(root, "package.json"), join(installed, "package.json"));
  const entries = [
    "project/authoring.ts",
    "plugin/index.ts",
    "server/executions/pool/index.ts",
    "server/executions/runner/main.ts",
  ];
  const settings = {
    extends: join(root, "tsconfig.build.json"),
    compilerOptions: {
      rootDir: root,
      outDir: join(installed, "dist"),
      types: ["node"],
      typeRoots: [join(root, "node_modules/@types")],
    },
    files: entries.map((entry) => join(root, entry)),
    include: [],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  await run(bin("tsc"), ["-p", join(folder, "tsconfig.json")]);
  write("package/agents/all.ts", agent);
  write("run.mjs", program);
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(runtimes)("an agent imports svc and svc/plugin on %s", async (runtime) => {
  const [command, ...args] = commandOf(runtime);
  const manual = runtime === "deno" ? ["--node-modules-dir=manual"] : [];
  const { stdout } = await run(command, [
    ...args,
    ...manual,
    join(folder, "run.mjs"),
    join(folder, `scratch-${runtime}`),
  ]);
  const [name, outcome] = JSON.parse(stdout);
  expect(name).toBe(runtime);
  expect(outcome).toEqual({ type: "succeeded", output: '["function",true,true]' });
});

const agent = `
import { defineAgent, ExecutionError } from "svc";
import * as plugin from "svc/plugin";
export default defineAgent(async (input: object, ctx) => {
  const error: unknown = await ctx.run("other").catch((thrown: unknown) => thrown);
  return [typeof defineAgent, error instanceof ExecutionError, Object.keys(plugin).length > 0] as const;
});
`;

const program = `
import { createPools } from "./node_modules/svc/dist/server/executions/pool/index.js";
import { runtime } from "./node_modules/svc/dist/server/runtime.js";
const MiB = 2 ** 20;
const pools = createPools({
  limits: {
    memoryBytes: 128 * MiB, outputBytes: MiB, logLineBytes: 1000, logLines: 100, executionsPerRunner: 8,
    runnersPerDeployment: 1, idleMs: 60_000, killGraceMs: 1000, blockedMs: 10_000,
  },
  scratchRoot: process.argv[2],
  locate: async (deploymentId) => ({ deploymentId, directory: new URL("./package", import.meta.url).pathname }),
  events: {
    log: () => {},
    run: async () => ({ executionId: "exe_other", error: { name: "Error", message: "no", stack: "" } }),
  },
});
const outcome = await pools.run({
  executionId: "exe_1", organizationId: "org_1", deploymentId: "dep_1", environment: "production", kind: "agent",
  name: "all", module: "agents/all.ts", input: {}, attempt: 1, trigger: "run", timeoutMs: 30_000, secrets: {}, unreadableSecrets: [],
  alone: false,
});
console.log(JSON.stringify([runtime.name, outcome]));
await pools.close(0);
`;

function write(path: string, text: string): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}
