/** Runs the commands and code blocks of the README, and compares its tables with the code. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { commands, type Group, type Leaf } from "../../cli/app/command-table.ts";
import { parseProjectFile } from "../../project/file/parse.ts";
import { limitVariables } from "../../server/config.ts";
import { deploy } from "../support/project.ts";
import { call, ok, runToEnd } from "../support/rest.ts";
import { bareEnvironment, bin, root } from "../support/runtimes.ts";
import { useServer } from "../support/suite.ts";

const readme = readFileSync(join(root, "README.md"), "utf8");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
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
/** The text without code blocks. */
const prose = readme.replaceAll(/^```.*?^```$/gms, "");
const shellLines = blocksIn("sh").flatMap((text) =>
  text.split("\n").map((line) => line.replace(/\s+#.*$/, "")),
);

describe("the first two commands", () => {
  test("run the demo and the tests", () => {
    const [first = ""] = blocksIn("sh");
    const lines = first
      .trim()
      .split("\n")
      .map((line) => line.replace(/\s+#.*$/, ""));
    expect(lines).toEqual(["npm ci && npm run demo", "npm ci && npm test"]);
    expect(manifest.scripts).toMatchObject({ demo: expect.any(String), test: expect.any(String) });
  });
});

test("has code blocks only in languages that are tested", () => {
  expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(["sh", "ts", "yaml"]));
});

describe("the examples of the README", () => {
  const server = useServer("node");

  test("the commands of Start create, deploy and run a project", async () => {
    const [, start = ""] = blocksIn("sh");
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
    expect(definition).toMatchObject({ name: "hello", agents: [{ name: "triage", timeoutSeconds: 60 }] });
  });

  test("the plugin fetches, with the secret as its key", async () => {
    const example = blocksIn("ts").find((text) => text.includes("new RestPlugin")) ?? "";
    const seen: string[] = [];
    const api = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      response.setHeader("content-type", "application/json").end('{"id":7}');
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void api.close());
    await once(api, "listening");
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const [imports = "", ...rest] = example.replace("https://api.example.com", url).split("\n\n");
    const code = `${imports}\nexport default async (_: unknown, ctx: any) => {\n${rest.join("\n")}\nreturn item;\n};`;
    await ok(server, "PUT", "/api/v1/secrets/EXAMPLE_KEY", { json: { value: "key-of-the-example" } });
    await deploy(server, { name: "readme-plugin", agents: { fetches: code } });
    expect((await runToEnd(server, "fetches")).output).toEqual({ id: 7 });
    expect(seen).toEqual(["GET /items/7?full=true Bearer key-of-the-example"]);
  });

  test("the curl request succeeds", async () => {
    const request = shellLines.find((line) => line.startsWith("curl ")) ?? "";
    const [, path = ""] = /127\.0\.0\.1:7070(\/\S+)$/.exec(request) ?? [];
    expect(request).toContain('-H "Authorization: Bearer $SVC_API_KEY"');
    expect((await call(server, "GET", path)).status).toBe(200);
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

  test("list the limits of the server with their defaults", () => {
    const listed = rows("### Limits").flatMap(([, defaults = "", variables = ""]) => {
      const values = defaults.split(/, (?=\d)/).map(amount);
      return [...variables.matchAll(/`(SVC_\w+)`/g)].map(([, variable = ""], index) => [
        variable,
        values[index],
      ]);
    });
    const known = Object.values(limitVariables).map(({ variable, default: standard }) => [
      variable,
      standard,
    ]);
    expect(listed.toSorted()).toEqual(known.toSorted());
  });

  test("list every variable that the server reads", () => {
    const read = ["server/config.ts", "server/secrets/master-key.ts"]
      .flatMap((file) => [...readFileSync(join(root, file), "utf8").matchAll(/\bSVC_[A-Z_]+\b/g)])
      .map(([name]) => name);
    for (const name of new Set(read)) expect(readme, name).toContain(`\`${name}\``);
  });

  test("list the dependencies of the package", () => {
    const scopeOf = (name: string, index: number, all: string[]) =>
      name.includes("/") || index === 0
        ? name
        : `${all[0]?.includes("/") && /^connect-/.test(name) ? "@connectrpc/" : ""}${name}`;
    const listed = rows("## Dependencies").flatMap(([names = ""]) => names.split(", ").map(scopeOf));
    expect(listed.toSorted()).toEqual(Object.keys(manifest.dependencies).toSorted());
  });

  test("mention only commands and options that exist", async () => {
    const mentions = [...prose.matchAll(/`(svc [a-z][^`]*)`/g)].map(([, mention = ""]) => mention);
    const all = [
      ...mentions,
      ...shellLines.flatMap((line) => line.split(" && ")).filter((line) => /^svc [a-z]/.test(line)),
    ];
    expect(all.length).toBeGreaterThan(8);
    for (const mention of all) {
      const { path, rest } = commandIn(mention);
      expect(path.length, mention).toBeGreaterThan(0);
      const flags = rest.filter((word) => word.startsWith("--"));
      if (flags.length === 0) continue;
      const { stdout } = await promisify(execFile)(bin("node"), [
        join(root, "cli/main.ts"),
        ...path,
        "--help",
      ]);
      for (const flag of flags) expect(stdout, mention).toContain(flag);
    }
  });

  test("have no broken link within the repository", () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path = ""]) => path);
    expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

/** Splits a line into the command path and the remaining words. */
function commandIn(line: string): { path: string[]; rest: string[] } {
  const words = line.split(/\s+/).slice(1);
  const path: string[] = [];
  let level: Readonly<Record<string, Leaf | Group>> = commands;
  for (const word of words) {
    const found = level[word];
    if (found === undefined) break;
    path.push(word);
    if (!("commands" in found)) break;
    level = found.commands;
  }
  return { path, rest: words.slice(path.length) };
}

/** Converts `1 MiB`, `20,000` or `64 levels` to a number. */
function amount(text: string): number {
  const number = Number(/^[\d,]+/.exec(text)?.[0].replaceAll(",", ""));
  const [unit = ""] = /[KMG]iB/.exec(text) ?? [];
  return number * ({ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }[unit] ?? 1);
}
