/** The packed package: its content, its size, and the layouts that install in a moment. `npm run test:layouts` tries all. */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PackedPackage, packedPackage } from "../support/package.ts";
import { root } from "../support/runtimes.ts";
import { type Environment, openEnvironment } from "./environment.ts";
import { layouts } from "./layouts.ts";

const run = promisify(execFile);
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  bin: Record<string, string>;
  exports: Record<string, string | { types: string; default: string }>;
};
let packed: PackedPackage;
let environment: Environment;

beforeAll(async () => {
  packed = await packedPackage();
  environment = await openEnvironment(packed.archive);
}, 120_000);

afterAll(async () => {
  await environment[Symbol.asyncDispose]();
  rmSync(environment.folder, { recursive: true, force: true });
});

test("contains the compiled code, the contract, the documents and the templates only", () => {
  const paths = packed.files.map(({ path }) => path);
  const odd = paths.filter(
    (path) =>
      !/^dist\/bundle\/[\w-]+\.js$/.test(path) &&
      // The modules that users import.
      !/^dist\/(proto|client|plugin)\/.*\.(js|d\.ts)$/.test(path) &&
      !/^dist\/project\/authoring\.(js|d\.ts)$/.test(path) &&
      !/^templates\/\w+\/[\w./-]+$/.test(path) &&
      !/^docs\/[\w/-]+\.md$/.test(path) &&
      !/^dist\/console\/(index\.html|app\.js|app\.css|icon\.svg)$/.test(path) &&
      // The figures of docs/performance.md.
      !/^docs\/performance\/[\w-]+\.(svg|json)$/.test(path) &&
      // The rules of Prometheus, the dashboard of Grafana and the unit of systemd, for operators.
      !/^docs\/monitoring\/\w+\.(yaml|json)$/.test(path) &&
      !/^deploy\/systemd\/[\w.-]+$/.test(path) &&
      !/^proto\/(svc\/v1|buf\/validate)\/\w+\.proto$/.test(path) &&
      ![
        "package.json",
        "README.md",
        "plugin/README.md",
        "CHANGELOG.md",
        "LICENSE",
        "cli/launcher.js",
        "dist/server/executions/runner/main.js",
        "dist/server/executions/types/program.js",
        "project.schema.json",
      ].includes(path),
  );
  expect(odd).toEqual([]);
  expect(paths.filter((path) => path.startsWith("dist/console/"))).toHaveLength(4);
  const targets = Object.values(manifest.exports).flatMap((one) =>
    typeof one === "string" ? one : Object.values(one),
  );
  for (const path of [...targets, ...Object.values(manifest.bin), "README.md", "LICENSE", "CHANGELOG.md"]) {
    expect(paths).toContain(path.replace(/^\.\//, ""));
  }
  expect(paths).toContain("proto/svc/v1/webhook.proto");
  expect(paths.filter((path) => path.endsWith(".proto")).length).toBe(9);
  // Compiled files must not import TypeScript sources.
  // The bundle holds templates with such imports, and is complete because esbuild resolved each one.
  const compiled = paths.filter((path) => /^dist\/(?!bundle\/).+\.js$/.test(path));
  const left = compiled.filter((path) =>
    /(?:from|import\()\s*"\.[^"]+\.ts"/.test(readFileSync(join(packed.folder, path), "utf8")),
  );
  expect(left).toEqual([]);
});

test("is at most 40 MB with its dependencies", () => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean }>;
  };
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== "" && dev !== true);
  const sizes = installed.map(([path]) => sizeOf(join(root, path)));
  const total = sizes.reduce((sum, size) => sum + size, packed.unpackedSize);
  expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(20);
  expect(total).toBeLessThan(40_000_000);
});

test.each(layouts.filter(({ name }) => ["bunx", "deno run npm:, without package.json"].includes(name)))(
  "$name creates a project and runs it",
  async ({ runtime, svc, name }) => {
    const created = await environment.shell(runtime, `${svc} init ${runtime}`);
    expect(created.output).toContain("Next steps:");
    const cwd = join(environment.folder, runtime);
    if (name.includes("without")) rmSync(join(cwd, "package.json"));
    const tested = await environment.shell(runtime, `${svc} test`, cwd);
    expect(tested.output).toContain("2 runs succeeded.");
    expect(tested.code).toBe(0);
    const added = await environment.shell(runtime, `${svc} webhook add github`, cwd);
    const [, page = ""] = /^More: (.+)$/m.exec(added.output) ?? [];
    expect(readFileSync(page, "utf8")).toMatch(/^# GitHub$/m);
  },
);

test("a global npm installation says how Deno runs it", async () => {
  const installed = join(environment.folder, "global/lib/node_modules/svc-agents");
  mkdirSync(installed, { recursive: true });
  await run("tar", ["-xzf", packed.archive, "-C", installed, "--strip-components=1"]);
  symlinkSync(join(root, "node_modules"), join(installed, "node_modules"));
  const layout = layouts.find(({ refusal }) => refusal !== undefined);
  const { code, output } = await environment.shell("deno", `${layout?.svc} test`);
  expect(output).toMatch(layout?.refusal ?? /^$/);
  expect(code).toBe(1);
});

/** The bytes of the files of a folder; 0 for a package of another platform. */
function sizeOf(folder: string): number {
  let size = 0;
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== "node_modules") size += sizeOf(path);
      else if (entry.isFile()) size += statSync(path).size;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return size;
}
