/** The YAML and JSON blocks of all documents: project files, parts of them, GitHub workflows and error answers. */
import { expect, test } from "vitest";
import { parse } from "yaml";
import { parseProjectFile } from "../../project/file/parse.ts";
import { reasons } from "../../server/errors/reasons.ts";
import { blocksOf, pages } from "./blocks.ts";

const all = pages.flatMap(blocksOf);

test("blocks have a language that is tested", () => {
  const languages = new Set(all.map(({ language }) => language));
  // `test/proxies` runs the configurations of proxies.
  const proxies = ["caddyfile", "nginx"];
  expect([...languages].toSorted()).toEqual([...proxies, "json", "sh", "text", "ts", "yaml"].toSorted());
});

const yaml = all.filter(({ language, page }) => language === "yaml" && page !== "docs/github-actions.md");

test.each(yaml.map((block) => [`${block.page}:${block.line}`, block] as const))("%s is valid", (_, block) => {
  const modules = blocksOf(block.page).flatMap(({ file }) => (file?.endsWith(".ts") ? [file] : []));
  // A whole project file is checked together with the modules of its page.
  const files = modules.length > 0 && block.file !== null ? { files: new Set(modules) } : {};
  expect(parseProjectFile(Buffer.from(projectFile(block.text)), files).problems).toEqual([]);
});

/** Completes a part of a project file: keys of the project, of an agent, or of a webhook. */
function projectFile(text: string): string {
  const [first = ""] = /^[a-z_]+/m.exec(text.replaceAll(/^#.*$/gm, "")) ?? [];
  const header = 'name: p\nversion: "1"\n';
  if (first === "name") return text;
  if (["agents", "workflows", "schedules", "network", "on_failure"].includes(first)) return header + text;
  const isTarget = ["webhooks", "timeout", "enable_retry", "retry_policy"].includes(first);
  const target = isTarget ? text : `webhooks:\n  - slug: a\n${indented(text)}`;
  return `${header}agents:\n  - name: a\n${indented(target)}`;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "    ");
}

test("the JSON blocks parse, and errors have known reasons", () => {
  const json = all.filter(({ language }) => language === "json");
  expect(json.length).toBeGreaterThan(0);
  for (const { page, text } of json) {
    const value = JSON.parse(text) as { code?: string; details?: { debug: { reason: string } }[] };
    if (value.code === undefined) continue;
    expect(Object.keys(value), page).toEqual(["code", "message", "details"]);
    for (const { debug } of value.details ?? []) expect(reasons).toHaveProperty(debug.reason);
  }
});

test("the workflow of GitHub Actions is valid, and needs only what it defines", () => {
  const [block] = blocksOf("docs/github-actions.md").filter(({ language }) => language === "yaml");
  const workflow = parse(block?.text ?? "", { strict: true }) as {
    on: Record<string, unknown>;
    jobs: Record<string, { "runs-on": string; needs?: string; steps: { uses?: string; run?: string }[] }>;
  };
  expect(Object.keys(workflow)).toEqual(["name", "on", "permissions", "jobs"]);
  expect(workflow.on).toEqual({ push: { branches: ["main"] }, pull_request: null });
  const commands = Object.values(workflow.jobs).flatMap((job) => {
    expect(job["runs-on"]).toBe("ubuntu-latest");
    if (job.needs !== undefined) expect(workflow.jobs).toHaveProperty(job.needs);
    for (const { uses, run } of job.steps)
      expect(uses ?? run, "one of uses and run").toMatch(/^(?:actions\/[a-z-]+@v\d+|n.+)$/);
    return job.steps.flatMap(({ run }) => run ?? []);
  });
  // commands.test.ts parses the commands of `svc` in the text; these are the same.
  expect(commands).toEqual(["npm ci", "npx svc test", "npm ci", "npx svc push --yes"]);
});
