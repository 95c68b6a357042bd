/** Runs the commands and code blocks of the README, and compares its tables with the code. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseProjectFile } from "../../project/file/parse.ts";
import { deploy } from "../support/project.ts";
import { runToEnd } from "../support/rest.ts";
import { bareEnvironment, bin, root } from "../support/runtimes.ts";
import { useServer } from "../support/suite.ts";

const readme = readFileSync(join(root, "README.md"), "utf8");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  name: string;
  engines: Record<string, string>;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
};

interface Block {
  language: string;
  text: string;
}

const blocks: readonly Block[] = [...readme.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(
  ([, language = "", text = ""]) => ({
    language,
    text,
  }),
);
const blocksIn = (language: string) =>
  blocks.filter((block) => block.language === language).map(({ text }) => text);

test("begins with the installation on each runtime, after the commands of a checkout", () => {
  const [, install = ""] = blocksIn("sh");
  const lines = install.trim().split("\n");
  expect(lines.map((line) => line.replace(/\s+#.*$/, ""))).toEqual([
    `npx ${manifest.name} init hello`,
    `bunx --bun ${manifest.name} init hello`,
    `deno run -A npm:${manifest.name} init hello`,
  ]);
  const versions = lines.map((line) => /# (\w+) ([\d.]+)$/.exec(line)?.slice(1));
  expect(versions).toEqual(
    Object.entries(manifest.engines).map(([name, range]) => [
      `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      range.replace(">=", ""),
    ]),
  );
});

test("opens with the commands that run the demo and the tests", () => {
  const [first = ""] = blocksIn("sh");
  const lines = first
    .trim()
    .split("\n")
    .map((line) => line.replace(/\s+#.*$/, ""));
  expect(lines).toEqual(["npm ci && npm run demo", "npm ci && npm test"]);
  expect(manifest.scripts).toMatchObject({ demo: expect.any(String), test: expect.any(String) });
});

test("has code blocks only in languages that are tested", () => {
  expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(["sh", "ts", "yaml"]));
});

describe("the examples of the README", () => {
  const server = useServer("node");

  test("the commands of Start create, deploy and run a project", async () => {
    const start = blocksIn("sh").find((text) => text.startsWith("svc serve")) ?? "";
    const lines = start.trim().split("\n");
    expect(lines[0]).toMatch(/^svc serve\b/);
    expect(lines[1]).toMatch(/^export SVC_API_KEY=svc_…/);
    const folder = mkdtempSync(join(tmpdir(), "svc-readme-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const launcher = join(root, "cli/launcher.js");
    writeFileSync(join(folder, "svc"), `#!/bin/sh\nexec '${bin("node")}' '${launcher}' "$@"\n`, {
      mode: 0o755,
    });
    // Without a terminal `svc push` requires --force.
    const script = ["set -e", ...lines.slice(2)].join("\n").replace(/^svc push\b/m, "svc push --force");
    const { stdout } = await promisify(execFile)("sh", ["-c", script], {
      cwd: folder,
      env: {
        ...bareEnvironment(),
        PATH: `${folder}${delimiter}${process.env.PATH}`,
        SVC_API_KEY: server.apiKey,
        SVC_BASE_URL: server.url,
      },
    });
    expect(stdout).toMatch(/dep_[0-9a-z]{26}/);
    expect(stdout).toContain('"triaged": true');
    expect(stdout).toContain(`${server.url}/webhook/org_`);
  });

  test("the agent runs", async () => {
    const agent = blocksIn("ts").find((text) => text.startsWith("// agents/triage.ts\n")) ?? "";
    await deploy(server, { name: "readme-agent", agents: { reads: agent } });
    expect((await runToEnd(server, "reads", { title: "a crash" })).output).toEqual({ priority: "high" });
    expect((await runToEnd(server, "reads", { title: "a typo" })).output).toEqual({ priority: "normal" });
  });

  test("the project file is valid", () => {
    const [file = ""] = blocksIn("yaml");
    const { definition, problems } = parseProjectFile(Buffer.from(file), {
      files: new Set(["agents/triage.ts"]),
    });
    expect(problems).toEqual([]);
    expect(definition).toMatchObject({
      name: "hello",
      agents: [{ name: "triage", retry: { maxRetries: 3 } }],
    });
  });
});

describe("the tables of the README", () => {
  const rows = (heading: string) => {
    const [, after = ""] = readme.split(`\n${heading}\n`);
    const [table = ""] = after.split(/\n#+ /);
    return [...table.matchAll(/^\| (.+) \|$/gm)]
      .map(([, cells = ""]) => cells.split(" | ").map((cell) => cell.trim()))
      .slice(1);
  };

  test("list the dependencies of the package", () => {
    const scopeOf = (name: string, index: number, all: string[]) =>
      name.includes("/") || index === 0
        ? name
        : `${all[0]?.includes("/") && /^connect-/.test(name) ? "@connectrpc/" : ""}${name}`;
    const listed = rows("## Dependencies").flatMap(([names = ""]) => names.split(", ").map(scopeOf));
    expect(listed.toSorted()).toEqual(Object.keys(manifest.dependencies).toSorted());
  });

  test("have no broken link within the repository", () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path = ""]) => path);
    expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
