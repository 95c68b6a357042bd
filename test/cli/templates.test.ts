/** Every template of `svc init`, as a project in which `svc` and the types are installed. */
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { templateNames } from "../../cli/project/templates/index.ts";
import { newProject } from "../../cli/project/templates/project.ts";
import { editorDiagnostics } from "../support/language-server.ts";
import { bareEnvironment, bin, root } from "../support/runtimes.ts";
import { newFolder, svc, writeFiles } from "./support.ts";

const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await newFolder();
  for (const template of templateNames) {
    const options = { folder: template, template, runtime: "node", svc: "npm:svc-agents@^0.1.0" } as const;
    await writeFiles(join(folder, template), newProject(options));
  }
  await install();
});

/** Makes the packages of the projects available without a registry. */
async function install(): Promise<void> {
  const modules = join(folder, "node_modules");
  await mkdir(join(modules, "@types"), { recursive: true });
  for (const name of ["@types/node", "undici-types"])
    await symlink(join(root, "node_modules", name), join(modules, name));
  const manifest = { name: "svc", type: "module", exports: "./authoring.ts" };
  await writeFiles(join(modules, "svc"), { "package.json": JSON.stringify(manifest) });
  await symlink(join(root, "project/authoring.ts"), join(modules, "svc/authoring.ts"));
}

test("no template has diagnostics in an editor", async () => {
  const files = globSync("*/{agents,workflows,test}/**/*.ts", { cwd: folder }).map((file) =>
    join(folder, file),
  );
  expect(files.length).toBeGreaterThan(2 * templateNames.length);
  expect(await editorDiagnostics(folder, files)).toEqual([]);
});

test("the tests of every template pass", async () => {
  const tests = globSync("*/test/*.test.ts", { cwd: folder });
  const args = ["--test", "--test-reporter=tap", "--test-isolation=none", ...tests];
  const { stdout } = await run(bin("node"), args, { cwd: folder, env: bareEnvironment() });
  expect(tests.length).toBeGreaterThan(templateNames.length);
  expect(stdout).toMatch(/^# pass [1-9]/m);
  expect(stdout).toMatch(/^# fail 0$/m);
});

test.each(templateNames)(
  "the samples of %s succeed, and its file names the schema of the package",
  async (template) => {
    const cwd = join(folder, template);
    const { code, stdout } = await svc("bun", ["test", "--json"], { cwd });
    const { ok, results } = JSON.parse(stdout) as {
      ok: boolean;
      results: { status: string; unmapped?: string[] }[];
    };
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    expect(results.every(({ status }) => status === "succeeded")).toBe(true);
    const [line] = (await readFile(join(cwd, "svc-project.yaml"), "utf8")).split("\n");
    expect(line).toBe("# yaml-language-server: $schema=./node_modules/svc/project.schema.json");
  },
);
