import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { templateNames } from "../../cli/project/templates/index.ts";
import { loadProject } from "../../project/load.ts";
import { compileMapping } from "../../project/mapping.ts";
import { commandRuntimes, root } from "../support/runtimes.ts";
import { newProjectFiles, svc, svcOnTerminal, temporaryFolder, writeFiles } from "./support.ts";

describe.each(commandRuntimes("node"))("svc init on %s", (runtime) => {
  const program = { node: "npm run", bun: "bun run", deno: "deno task" }[runtime];
  const install = { node: "npm install", bun: "bun add", deno: "deno add" }[runtime];

  test("creates a valid project and prints the next steps", async () => {
    const cwd = await temporaryFolder();
    const { code, stdout, stderr } = await svc(runtime, ["init", "my project"], { cwd });
    expect(stderr).toMatch(
      new RegExp(
        `Created 9 files in my project\\.(.|\n)*cd "my project"(.|\n)*${program} dev(.|\n)*svc push`,
      ),
    );
    expect(stdout).toBe("");
    expect(code).toBe(0);

    const { definition, problems } = await loadProject(join(cwd, "my project"));
    expect(problems).toEqual([]);
    expect(definition).toMatchObject({
      name: "my-project",
      agents: [
        { name: "triage", module: "agents/triage.ts", retry: { maxRetries: 3, strategy: "exponential" } },
      ],
      schedules: [{ name: "triage", enabled: true, timezone: "UTC" }],
    });
    const manifest = JSON.parse(await readFile(join(cwd, "my project/package.json"), "utf8"));
    // A checkout has no version on npm.
    expect(manifest).toMatchObject({
      name: "my-project",
      type: "module",
      dependencies: { svc: `file:${root.replace(/\/$/, "")}` },
    });
  });

  test("writes no file when one already exists", async () => {
    const cwd = await temporaryFolder();
    await mkdir(join(cwd, "agents"));
    await writeFile(join(cwd, "agents/triage.ts"), "mine");
    const { code, stderr } = await svc(runtime, ["init"], { cwd });
    expect(stderr).toMatch(
      /^error: Cannot create a project in \.: agents\/triage\.ts already exists\.\nhint: /,
    );
    expect(code).toBe(1);
    expect(await readFile(join(cwd, "agents/triage.ts"), "utf8")).toBe("mine");
    expect(await readdir(cwd)).toEqual(["agents"]);
  });

  test("keeps an existing package.json and .gitignore, and says how to add svc", async () => {
    const cwd = await temporaryFolder();
    await writeFiles(cwd, { ".gitignore": "mine", "package.json": "{}" });
    const { code, stderr } = await svc(runtime, ["init", "."], { cwd });
    expect(stderr).toMatch(
      new RegExp(
        `Created 7 files in this folder\\.(.|\n)*Kept package\\.json, \\.gitignore\\.(.|\n)*${install} svc@file:`,
      ),
    );
    expect(code).toBe(0);
    expect(await readFile(join(cwd, ".gitignore"), "utf8")).toBe("mine");
    expect(await readFile(join(cwd, "package.json"), "utf8")).toBe("{}");
  });

  test("reports a file in the path of the folder", async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "file"), "");
    for (const dir of ["file", "file/below"]) {
      const { code, stderr } = await svc(runtime, ["init", dir], { cwd });
      expect(stderr).toContain(`error: Cannot create a project in ${dir}: part of the path is a file.\n`);
      expect(code).toBe(1);
    }
  });

  test("suggests a template for a mistyped one", async () => {
    const cwd = await temporaryFolder();
    const { code, stderr } = await svc(runtime, ["init", "--template", "stirpe"], { cwd });
    expect(stderr).toBe(
      `error: No template "stirpe" (did you mean "stripe"?).\nhint:  Templates: ${templateNames.join(", ")}.\n`,
    );
    expect(code).toBe(2);
    expect(await readdir(cwd)).toEqual([]);
  });

  test("asks for the template on a terminal", async () => {
    const cwd = await temporaryFolder();
    const down = "\u001b[B";
    const chosen = await svcOnTerminal(runtime, ["init", "shop"], {
      cwd,
      script: [{ when: "language model", types: `${down}${down}${down}\r` }],
    });
    expect(chosen.code).toBe(0);
    expect(await readdir(join(cwd, "shop/agents"))).toEqual(["payment.ts"]);
    const cancelled = await svcOnTerminal(runtime, ["init", "none"], {
      cwd,
      script: [{ when: "language model", types: "\u0003" }],
    });
    expect(cancelled.code).toBe(130);
    expect(await readdir(cwd)).toEqual(["shop"]);
  });
});

describe("the new project", () => {
  test.each<[folder: string, name: string]>([
    ["shop", "shop"],
    ["Shop of Ümit", "Shop-of-mit"],
    ["_.-", "my-project"],
    ["日本", "my-project"],
    ["x".repeat(100), "x".repeat(64)],
  ])("derives its name from the folder name %j", (folder, name) => {
    expect(newProjectFiles(folder)["svc-project.yaml"]).toContain(`\nname: "${name}"\n`);
  });

  test("its sample payload fills every parameter of the webhook's mapping", async () => {
    const cwd = await temporaryFolder();
    await writeFiles(cwd, newProjectFiles("sample"));
    const { definition } = await loadProject(cwd);
    const mapping = definition?.agents[0]?.webhooks[0]?.fieldMapping ?? [];
    const payload = JSON.parse(await readFile(join(cwd, "samples/triage.github-issue.json"), "utf8"));
    const { input, unmapped } = compileMapping(mapping).apply(payload);
    expect(unmapped).toEqual([]);
    expect(Object.keys(input)).toEqual(["title", "body", "author", "label", "repository"]);
    expect(mapping.map(({ path }) => path)).toContain("issue.labels[0].name");
  });
});
