import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandRuntimes, root } from "../support/runtimes.ts";
import { projectFile, projectFolder, svc, temporaryFolder, useService, writeFiles } from "./support.ts";

const agent = "export default () => ({ ok: true });\n";

interface Deployments {
  deployments: { deployment_id: string; status: string }[];
}

describe.each(commandRuntimes("bun"))("svc push on %s", (runtime) => {
  const service = useService(runtime);

  const deployed = async (project: string): Promise<Deployments["deployments"]> =>
    (await service.json<Deployments>(`deployments --project ${project}`)).deployments;

  test("requires an API key", async () => {
    const cwd = await projectFolder("keyless", { "agents/keyless.js": agent });
    const { code, stdout, stderr } = await svc(runtime, ["push"], { cwd });
    expect(stderr).toMatch(
      /^error: No API key found: SVC_API_KEY is not set\.\nhint: {2}Set it with `export SVC_API_KEY=.*`svc dev`/,
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  });

  test("requires a project file", async () => {
    // Without an API key too: the key alone would not help.
    const { code, stderr } = await svc(runtime, ["push"], { cwd: await temporaryFolder() });
    expect(stderr).toMatch(
      /^error: There is no svc-project\.yaml in this folder or a parent folder\.\nhint: {2}.*`svc init`\.\n$/,
    );
    expect(code).toBe(1);
  });

  test("rejects invalid YAML and unknown keys with the position of every problem, before it sends a request", async () => {
    const cwd = await projectFolder("broken", { "agents/broken.js": agent });
    await writeFile(join(cwd, "svc-project.yaml"), "name: x\n  version: [1\n");
    const yaml = await service.run("push --force", { cwd });
    expect(yaml.stderr).toMatch(/^error: Invalid configuration in svc-project\.yaml/);
    expect(yaml.stderr).toMatch(
      /\nsvc-project\.yaml:\d+:\d+: .*\n(.|\n)*\nhint: {2}Fix the reported problems/,
    );
    expect(yaml.code).toBe(1);

    await writeFile(join(cwd, "svc-project.yaml"), "name: x\nversoin: 1\nagents:\n  - name: absent\n");
    const keys = await service.run("push --force", { cwd });
    expect(keys.stderr).toMatch(/svc-project\.yaml:2:1: .*did you mean "version"/);
    expect(keys.stderr).toMatch(/svc-project\.yaml:4:\d+: .*agents\/absent/);
    expect(keys).toMatchObject({ code: 1, stdout: "" });
    expect(await deployed("x")).toEqual([]);
  });

  test("rejects a symbolic link that leaves the project", async () => {
    const cwd = await projectFolder("linked", { "agents/linked.js": agent });
    await symlink("/etc/hostname", join(cwd, "agents/secret.txt"));
    const { code, stderr } = await service.run("push --force", { cwd });
    expect(stderr).toMatch(
      /^error: The project cannot be deployed: .*\nagents\/secret\.txt: .*leaves the project/,
    );
    expect(code).toBe(1);
  });

  test("requires --force without a terminal; --dry-run deploys nothing", async () => {
    const cwd = await projectFolder("unasked", { "agents/unasked.js": agent });
    for (const line of ["push", "push --json"]) {
      const { code, stdout, stderr } = await service.run(line, { cwd, input: "y\n" });
      expect(stderr).toMatch(/error: This command requires confirmation.*\nhint: {2}Pass --yes/);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    }
    const preview = await service.run("push --dry-run --force", { cwd });
    expect(preview.stderr).toMatch(
      /\+ agent {5}unasked\n(.|\n)*package: 2 files(.|\n)*nothing was deployed\.\n$/,
    );
    expect(preview).toMatchObject({ code: 0, stdout: "" });
    expect(await deployed("unasked")).toEqual([]);
  });

  test("prints the changes, skips an unchanged package, and deploys it again with --redeploy", async () => {
    const cwd = await projectFolder("plan", { "agents/plan.js": agent });
    expect((await service.run("push --force", { cwd })).code).toBe(0);
    const [first] = await deployed("plan");

    const again = await service.run("push", { cwd });
    expect(again.stderr).toContain("No changes: plan 1.0 is already active in production.");
    expect(again.stdout).toContain(`deployment ID  ${first?.deployment_id}\n`);
    expect(again.code).toBe(0);
    expect(await service.json("push", { cwd })).toMatchObject({
      deployment_id: first?.deployment_id,
      unchanged: true,
    });

    await writeFile(join(cwd, "agents/plan.js"), `${agent}// changed\n`);
    const file = projectFile(
      "plan",
      "        signature: { scheme: github, secret: HOOK }\n    timeout: 60\n",
    );
    await writeFiles(cwd, {
      "svc-project.yaml": file.replace("sku: sku", "id: sku"),
      "agents/lib/new.js": "",
      ".gitignore": "ignored.js\n",
      "agents/ignored.js": "",
    });
    expect(await service.json("push --dry-run", { cwd })).toMatchObject({
      active_deployment_id: first?.deployment_id,
      unchanged: false,
      file_count: 3,
      plan: {
        agents: [{ change: "changed", key: "plan", details: ["timeout: 300 s → 60 s", "code"] }],
        workflows: [],
        webhooks: [
          {
            change: "changed",
            key: "plan/hook",
            details: [
              "field_mapping order.items[0].sku: sku → none",
              "field_mapping order.items[0].id: none → sku",
              "signature: none → github",
              "signature secret: none → HOOK",
            ],
          },
        ],
        files: [
          { change: "added", key: "agents/lib/new.js" },
          { change: "changed", key: "agents/plan.js" },
          { change: "changed", key: "svc-project.yaml" },
        ],
      },
    });

    await writeFile(join(cwd, "svc-project.yaml"), projectFile("plan"));
    const verbose = await service.run("push --force --verbose", { cwd });
    expect(verbose.stderr).toMatch(/\d+ B {2}agents\/plan\.js\n/);
    expect(verbose.stderr).toMatch(/Packaged in \d+ ms\.\n(.|\n)*Uploaded [\d.]+ \w+ in \d+ ms\.\n/);
    const redeployed = await service.run("push --redeploy --force --verbose", { cwd });
    expect(redeployed.stderr).toMatch(/no changes\n(.|\n)*The package is already stored\./);
    expect((await deployed("plan")).map(({ status }) => status)).toEqual([
      "active",
      "superseded",
      "superseded",
    ]);
  });

  test("deploys to the named environment", async () => {
    const cwd = await projectFolder("elsewhere", { "agents/elsewhere.js": agent });
    const pushed = await service.run("push staging --force", { cwd });
    expect(pushed.stdout).toContain(`${service.url}/env/staging/webhook/`);
    expect(pushed.stderr).toContain("svc run elsewhere --environment staging\n");
    const env = { SVC_BASE_URL: `${service.url}/env/staging` };
    expect((await service.run("push", { cwd, env })).stderr).toContain("already active in staging");
    expect((await service.run("run elsewhere --environment staging")).stdout).toBe('{\n  "ok": true\n}\n');
    expect(await service.run("run elsewhere")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("hint:  It exists in staging: pass --environment staging."),
    });
    const misspelled = await service.run("run elsewere -e staging");
    expect(misspelled.stderr).toMatch(
      /^error: There is no .*'elsewere' in staging.*\nhint: {2}Did you mean "elsewhere"\?\n$/,
    );
    const mistyped = await service.run("push -e stagign --dry-run", { cwd });
    expect(mistyped.stderr).toMatch(/^warning: The environment stagign is new\. Others: .*\bstaging\b/m);
    expect((await service.run("push -e staging --dry-run", { cwd })).stderr).toContain(
      "already active in staging",
    );
    expect((await service.run("schedules -e staging")).stderr).toMatch(/^No schedules found in staging\./);
    expect((await service.run("webhook list -e empty")).stderr).toMatch(/^No webhook URLs found in empty\./);
  });

  test("reports a name of another project before the upload, also with --dry-run", async () => {
    const holder = await projectFolder("holder", { "agents/holder.js": agent });
    expect((await service.run("push --force", { cwd: holder })).code).toBe(0);
    const cwd = await projectFolder("holder", { "agents/holder.js": agent });
    const file = projectFile("holder").replace("name: holder", "name: claimant");
    await writeFiles(cwd, { "svc-project.yaml": file });
    for (const line of ["push --dry-run", "push --dry-run --json", "push --force"]) {
      const { code, stdout, stderr } = await service.run(line, { cwd });
      expect(stderr).toMatch(/^error: .*agent "holder" belongs to project "holder" in production\.\nhint: /);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    }
    expect((await service.run("push staging --dry-run", { cwd })).code).toBe(0);
  });

  test("warns about a retry_policy without enable_retry", async () => {
    const cwd = await projectFolder("retrying", { "agents/retrying.js": agent });
    const warning = 'warning: The retry_policy of "retrying" has no effect without `enable_retry: true`.';
    const policy = "    retry_policy: { max_retries: 5 }\n";
    for (const [more, warns] of [
      [policy, true],
      [`    enable_retry: true\n${policy}`, false],
      [`    enable_retry: false\n${policy}`, false],
    ] as const) {
      await writeFiles(cwd, { "svc-project.yaml": projectFile("retrying", more) });
      const { code, stderr } = await service.run("push --dry-run", { cwd });
      expect(stderr.includes(warning)).toBe(warns);
      expect(code).toBe(0);
    }
  });

  test("rejects modules that do not load, before it sends a request", async () => {
    const cwd = await projectFolder("unloadable", { "agents/unloadable.js": "export default 7;\n" });
    for (const line of ["push --force", "push --dry-run"]) {
      const { code, stdout, stderr } = await service.run(line, { cwd });
      expect(stderr).toMatch(
        /^error: 1 module cannot be loaded:\nagents\/unloadable\.js.*: TypeError: .*\nhint: /,
      );
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    }
    expect(await deployed("unloadable")).toEqual([]);

    const hidden = 'import { readFileSync } from "node:fs";\nconst name = "prompt";\n';
    const reads = 'readFileSync(new URL(name + ".txt", import.meta.url));\nexport default () => 1;\n';
    await writeFiles(cwd, { "agents/unloadable.js": hidden + reads, "agents/prompt.txt": "be kind" });
    expect(await service.run("push --force", { cwd })).toMatchObject({ code: 0 });
  });

  test("rejects an input of a schedule that violates the schema, with advice about both", async () => {
    const validate = '() => ({ issues: [{ message: "must have a sku", path: ["sku"] }] })';
    const cwd = await projectFolder("violating", {
      "agents/violating.js": `const input = { "~standard": { version: 1, vendor: "own", validate: ${validate} } };
        export default { input, run: () => 1 };`,
    });
    const schedules = 'schedules: { agents: { violating: { cron: "0 0 * * *" } } }\n';
    await writeFile(join(cwd, "svc-project.yaml"), `${projectFile("violating")}${schedules}`);
    const { code, stderr } = await service.run("push --dry-run", { cwd });
    expect(stderr).toMatch(
      /\nsvc-project\.yaml:\d+:\d+: .*sku(.|\n)*\nhint: {2}Change the reported places, or the/,
    );
    expect(code).toBe(1);
  });

  test("bundles npm packages and reports unresolved imports with their position", async () => {
    const cwd = await projectFolder("npm", {
      "agents/npm.ts": 'import { double } from "tiny";\nexport default (): number => double(21);\n',
    });
    const missing = await service.run("push --force", { cwd });
    expect(missing.stderr).toMatch(
      /^error: The project cannot be deployed: 1 problem\.\nagents\/npm\.ts:1:\d+: .*tiny/,
    );
    expect(missing).toMatchObject({ code: 1, stdout: "" });
    await writeFiles(cwd, {
      "package.json": '{ "dependencies": { "tiny": "1.0.0" } }',
      "node_modules/tiny/package.json":
        '{ "name": "tiny", "version": "1.0.0", "type": "module", "main": "index.js" }',
      "node_modules/tiny/index.js": "export const double = (n) => 2 * n;\n",
      ".gitignore": "node_modules/\n",
    });
    expect(await service.run("push --force", { cwd })).toMatchObject({ code: 0 });
    expect((await service.run("run npm")).stdout).toBe("42\n");
  });

  test("deploys modules with enums, also shared ones, and their stacks name lines of the source", async () => {
    const level = "export enum Level {\n  Low,\n  High,\n}\n";
    const check = "export function check(level: Level): void {\n  throw new RangeError(Level[level]);\n}\n";
    const cwd = await projectFolder("enums", {
      "agents/enums.ts": `import { check, Level } from "../lib/level.ts";
        enum Mode { Safe = 1, Fast }
        export default ({ fails }: { fails?: boolean }): unknown => {
          if (fails) check(Level.High);
          return [Level.High, Mode.Fast];
        };`,
      "lib/level.ts": `${level}${check}`,
    });
    expect(await service.run("push --dry-run", { cwd })).toMatchObject({ code: 0 });
    expect(await service.run("push --force", { cwd })).toMatchObject({ code: 0 });
    expect(JSON.parse((await service.run("run enums")).stdout)).toEqual([1, 2]);
    const failed = await service.run(["run", "enums", "--data", "-"], { cwd, input: '{ "fails": true }' });
    const id = /exe_\w+/.exec(failed.stderr)?.[0];
    expect((await service.run(`executions show ${id}`)).stdout).toContain("lib/level.ts:6");
  });

  test("runs agents that import zod, openai and ai on a service without these packages", async () => {
    const cwd = await projectFolder("sdk", {
      "agents/sdk.ts": `import { tool } from "ai";
        import OpenAI, { APIConnectionError } from "openai";
        import { z } from "zod";
        const inputSchema = z.object({ a: z.number() });
        const add = tool({ description: "adds", inputSchema, execute: async ({ a }) => a + 1 });
        export default async (input: unknown): Promise<unknown> => {
          const client = new OpenAI({ apiKey: "k", baseURL: "http://127.0.0.1:1", maxRetries: 0 });
          const error = await client.models.list().catch((reason: unknown) => reason);
          const sum = await add.execute?.({ a: 1 }, { toolCallId: "1", messages: [] } as never);
          return [inputSchema.safeParse(input).success, error instanceof APIConnectionError, sum];
        };`,
      "package.json": '{ "dependencies": { "ai": "*", "openai": "*", "zod": "*" } }',
      ".gitignore": "node_modules/\n",
    });
    await mkdir(join(cwd, "node_modules"));
    for (const name of ["ai", "openai", "zod"]) {
      await symlink(join(root, "node_modules", name), join(cwd, "node_modules", name));
    }
    expect(await service.run("push --force", { cwd })).toMatchObject({ code: 0 });
    const { stdout } = await service.run(["run", "sdk", "--data", "-"], { input: '{ "a": 1 }' });
    expect(JSON.parse(stdout)).toEqual([true, true, 2]);
  });

  test("reports a failed upload after retries and registers no deployment", async () => {
    const cwd = await projectFolder("upload", { "agents/upload.js": agent });
    const uploads = join(service.dataDir, "tmp/uploads");
    await rm(uploads, { recursive: true });
    await writeFile(uploads, "a file in place of the upload folder");
    const { code, stdout, stderr } = await service.run("push --force", { cwd });
    expect(stderr).toMatch(/warning: The upload failed \(HTTP 5\d\d\); retrying\./);
    expect(stderr).toMatch(
      /error: Deployment failed: package upload error \(HTTP 5\d\d\)\.\nhint: {2}Nothing was deployed\./,
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(await readFile(uploads, "utf8")).toContain("a file");
    expect(await deployed("upload")).toEqual([]);
  });
});
