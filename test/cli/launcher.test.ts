import { execFile } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { root } from "../support/runtimes.ts";
import { launcher, leaves } from "./support.ts";

const run = promisify(execFile);
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

/** Runs the launcher after another module. */
async function launch(
  first: string,
  args: string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const preload = `data:text/javascript,${encodeURIComponent(first)}`;
  try {
    const { stdout, stderr } = await run(process.execPath, ["--import", preload, launcher, ...args]);
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

function pretend(versions: Record<string, string>): string {
  return `Object.defineProperty(process, "versions", { value: { ...process.versions, ...${JSON.stringify(versions)} } });`;
}

/** A Node without support for TypeScript, if this machine has one. */
const oldNode = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .find(
    (path) => existsSync(path) && !realpathSync(path).startsWith(realpathSync(join(root, "node_modules"))),
  );

describe("the launcher", () => {
  test.skipIf(oldNode === undefined)("is what cli/main.ts runs, on a Node of this machine too", async () => {
    const program = oldNode ?? "";
    const { stdout: version } = await run(program, ["--version"]);
    const { stdout, stderr } = await run(program, [join(root, "cli/main.ts"), "--version"]).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    const found = version.trim().slice(1);
    const isOld = Number.parseInt(found, 10) < 24;
    expect(isOld ? stderr : stdout).toBe(
      isOld
        ? `svc requires Node.js 24 or newer; this is Node.js ${found}.\n`
        : `svc ${manifest.version} (node ${found})\n`,
    );
  });

  test.each<[Record<string, string>, string]>([
    [{ node: "20.19.5" }, "svc requires Node.js 24 or newer; this is Node.js 20.19.5.\n"],
    [{ node: "14.0.0" }, "svc requires Node.js 24 or newer; this is Node.js 14.0.0.\n"],
    [{ bun: "1.3.9" }, "svc requires Bun 1.4 or newer; this is Bun 1.3.9.\n"],
    [{ deno: "2.8.1", node: "24.2.0" }, "svc requires Deno 2.9 or newer; this is Deno 2.8.1.\n"],
  ])("rejects %j in one line", async (versions, line) => {
    const { code, stdout, stderr } = await launch(pretend(versions), ["--version"]);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: line });
  });

  test.each<Record<string, string>>([
    { node: "24.0.0" },
    { node: "26.1.0" },
    { bun: "1.10.0", node: "22.0.0" },
    { deno: "3.0.0", node: "22.0.0" },
  ])("accepts %j", async (versions) => {
    const { code, stdout } = await launch(pretend(versions), ["--version"]);
    expect(stdout).toMatch(/^svc /);
    expect(code).toBe(0);
  });

  test("checks the version before it imports the package", async () => {
    const { stderr } = await launch(pretend({ node: "20.0.0" }) + recordImports, []);
    expect(stderr).toContain("imported: ");
    expect(stderr).not.toMatch(/cli\/main|dispatch\.ts/);
  });
});

const recordImports = `
  import { registerHooks } from "node:module";
  const seen = [];
  registerHooks({ load(url, context, next) { seen.push(url); return next(url, context); } });
  process.on("exit", () => console.error("imported: " + seen.join(" ")));
`;

describe("imports", () => {
  const heavy = /@connectrpc|@bufbuild|consola|esbuild|\/yaml\/|\/server\/|\/proto\//;

  test("svc --help imports neither Connect nor the server nor the project library", async () => {
    const { code, stderr } = await launch(recordImports, ["--help"]);
    expect(stderr).toContain("cli/app/help.ts");
    expect(stderr).not.toMatch(heavy);
    expect(stderr).not.toMatch(/\/project\/(?!suggest\.ts)/);
    expect(code).toBe(0);
  });

  test("no command imports anything heavy for its --help", async () => {
    const dispatcher = JSON.stringify(pathToFileURL(join(root, "cli/app/dispatch.ts")));
    const commands = JSON.stringify(leaves().map((path) => [...path.split(" "), "--help"]));
    // All in one process: what a command imports first is heavy for it too.
    const all = `
      const { run } = await import(${dispatcher});
      for (const args of ${commands}) {
        seen.push("\\nsvc " + args.join(" ") + ":");
        const code = await run(args);
        if (code !== 0) throw new Error("svc " + args.join(" ") + " ended with " + code);
      }
      seen.push("\\n");`;
    const { code, stderr } = await launch(recordImports + all, ["--help"]);
    expect(code, stderr).toBe(0);
    expect(stderr).not.toMatch(heavy);
    const imports = stderr.split("\n").filter((line) => line.startsWith("svc "));
    expect(imports).toHaveLength(leaves().length);
    expect(imports.filter((line) => heavy.test(line))).toEqual([]);
    expect(imports.join("\n")).toContain("/cli/commands/");
  });

  test.each([["executions --unknown"], ["logs -n x"], ["push --dryrun"]])(
    "the usage error of svc %s imports nothing heavy",
    async (line) => {
      const { code, stderr } = await launch(recordImports, line.split(" "));
      expect(stderr).toContain("imported: ");
      expect(stderr).not.toMatch(heavy);
      expect(code).toBe(2);
    },
  );
});
