import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newProject } from "../../cli/project/templates/project.ts";
import { loadProject } from "../../project/load.ts";
import { compileMapping } from "../../project/mapping.ts";
import { runtimes } from "../support/runtimes.ts";
import { svc, temporaryFolder } from "./support.ts";

describe.each(runtimes)("svc init on %s", (runtime) => {
  test("creates a valid project and prints the next steps", async () => {
    const cwd = await temporaryFolder();
    const { code, stdout, stderr } = await svc(runtime, ["init", "my project"], { cwd });
    expect(stderr).toMatch(/Created 7 files in my project\.(.|\n)*cd "my project"(.|\n)*svc push/);
    expect(stdout).toBe("");
    expect(code).toBe(0);

    const { definition, problems } = await loadProject(join(cwd, "my project"));
    expect(problems).toEqual([]);
    expect(definition).toMatchObject({
      name: "my-project",
      agents: [
        { name: "triage", module: "agents/triage.ts", retry: { maxRetries: 3, strategy: "exponential" } },
      ],
      workflows: [{ name: "triage-backlog", module: "workflows/triage-backlog.ts" }],
      schedules: [{ name: "triage", enabled: true, timezone: "UTC" }],
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

  test("keeps an existing .gitignore", async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, ".gitignore"), "mine");
    const { code, stderr } = await svc(runtime, ["init", "."], { cwd });
    expect(stderr).toContain("Created 6 files in this folder.");
    expect(code).toBe(0);
    expect(await readFile(join(cwd, ".gitignore"), "utf8")).toBe("mine");
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
});

describe("the new project", () => {
  test.each<[folder: string, name: string]>([
    ["shop", "shop"],
    ["Shop of Ümit", "Shop-of-mit"],
    ["_.-", "my-project"],
    ["日本", "my-project"],
    ["x".repeat(100), "x".repeat(64)],
  ])("derives its name from the folder name %j", (folder, name) => {
    expect(newProject(folder)["svc-project.yaml"]).toContain(`\nname: "${name}"\n`);
  });

  test("its sample payload fills every parameter of the webhook's mapping", async () => {
    const cwd = await temporaryFolder();
    for (const [path, text] of Object.entries(newProject("sample"))) {
      await mkdir(join(cwd, path, ".."), { recursive: true });
      await writeFile(join(cwd, path), text);
    }
    const { definition } = await loadProject(cwd);
    const mapping = definition?.agents[0]?.webhooks[0]?.fieldMapping ?? [];
    const payload = JSON.parse(await readFile(join(cwd, "samples/triage.github-issue.json"), "utf8"));
    const { input, unmapped } = compileMapping(mapping).apply(payload);
    expect(unmapped).toEqual([]);
    expect(Object.keys(input)).toEqual(["title", "body", "author", "label", "repository"]);
    expect(mapping.map(({ path }) => path)).toContain("issue.labels[0].name");
  });
});
