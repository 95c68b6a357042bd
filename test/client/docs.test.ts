/** Runs the code blocks of docs/client.md and the commands of docs/api.md. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { bareEnvironment, bin, root } from "../support/runtimes.ts";
import { useServer } from "../support/suite.ts";

const run = promisify(execFile);
const server = useServer("node");
let folder: string;

const triage = {
  code: `export default (input) => {
    console.log("looking at " + input.title);
    return { priority: input.title.includes("crash") ? "high" : "normal" };
  };`,
  webhooks: [{ slug: "new-issue", field_mapping: { "issue.title": "title" } }],
};

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-docs-")));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  await deploy(server, { agents: { triage } });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function blocks(file: string, language: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, name, code = ""]) =>
    name === language ? [code] : [],
  );
}

const environment = () => ({
  ...bareEnvironment(),
  PATH: `${bin("")}${delimiter}${process.env.PATH}`,
  SVC_API_KEY: server.apiKey,
  SVC_BASE_URL: server.url,
});

describe("docs/client.md", () => {
  const [first = "", ...examples] = blocks("docs/client.md", "ts");
  const entry = JSON.stringify(join(root, "client/index.ts"));
  /** The client of the first block; the other examples use it. */
  const prelude = first.split("\n").slice(0, 3).join("\n");

  const programs = [first, ...examples.map((example) => `${prelude}\n${example}`)];
  let outputs: string[] = [];

  // One process runs them one after the other: each would compile the client again.
  beforeAll(async () => {
    const files = programs.map((code, index) => {
      const file = join(folder, `example-${index}.ts`);
      const program = code
        .replaceAll('"svc/client"', entry)
        .replace('"http://127.0.0.1:7070"', "process.env.SVC_BASE_URL ?? ''");
      writeFileSync(file, program);
      return file;
    });
    const lines = files.flatMap((file) => [`await import(${JSON.stringify(file)});`, 'console.log("\\0");']);
    writeFileSync(join(folder, "examples.ts"), lines.join("\n"));
    const { stdout } = await run(bin("node"), [join(folder, "examples.ts")], { env: environment() });
    outputs = stdout.split("\0\n");
  });

  test.each(programs.map((code, index) => [index, code] as const))(
    "example %i prints its comments",
    (index, code) => {
      const printed = outputs[index]?.replaceAll("'", '"');
      for (const [, comment = ""] of code.matchAll(/^ *console\.log\(.*\); \/\/ (.+)$/gm)) {
        for (const part of comment.split("…")) expect(printed).toContain(part.trim());
      }
    },
  );

  test("states the size of the bundle", async () => {
    const { outputFiles } = await build({
      entryPoints: [join(root, "client/index.ts")],
      ...{ bundle: true, minify: true, format: "esm", platform: "browser", write: false },
    });
    const bytes = gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).byteLength;
    const [, stated] =
      /about (\d+) KB with gzip/.exec(readFileSync(join(root, "docs/client.md"), "utf8")) ?? [];
    expect(Math.abs(bytes / 1000 - Number(stated))).toBeLessThan(3);
  });
});

describe("docs/api.md", () => {
  const [settings = "", ...scripts] = blocks("docs/api.md", "sh");
  const commands = scripts.flatMap((script) => script.trim().split("\n"));

  test("sets the variables that the commands read", () => {
    expect(settings.match(/^export \w+/gm)).toEqual(["export SVC_BASE_URL", "export SVC_API_KEY"]);
    expect(commands.length).toBeGreaterThan(9);
  });

  test("the TypeScript example prints the number of executions", async () => {
    const [example = ""] = blocks("docs/api.md", "ts");
    writeFileSync(join(folder, "api.ts"), example);
    const { stdout } = await run(bin("node"), [join(folder, "api.ts")], { env: environment() });
    expect(stdout).toMatch(/^\d+ undefined\n$/);
  });

  // The generator needs TypeScript 5; test/openapi runs it.
  test.each(commands.filter((command) => !command.startsWith("npx ")))("%s", async (command) => {
    const { stdout } = await run("sh", ["-c", command], { cwd: folder, env: environment() });
    if (command.includes("-o openapi.json")) {
      expect(JSON.parse(readFileSync(join(folder, "openapi.json"), "utf8"))).toHaveProperty("openapi");
    } else {
      expect(stdout).toMatch(/execution|healthy|"ok"|"SERVING"|svc\.v1|"log"/);
    }
  });
});
