/** The packed package: `svc/client` imported on each runtime, and its declarations in a project that declares its targets. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packedPackage } from "../support/package.ts";
import { deploy } from "../support/project.ts";
import { bin, commandOf, root, runtimes } from "../support/runtimes.ts";
import { useServer } from "../support/suite.ts";

const run = promisify(execFile);
const server = useServer("node");
let folder: string;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-client-")));
  const { archive } = await packedPackage();
  const installed = join(folder, "node_modules/svc");
  mkdirSync(installed, { recursive: true });
  await run("tar", ["-xzf", archive, "-C", installed, "--strip-components=1"]);
  for (const name of ["@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-web"]) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    cpSync(join(root, "node_modules", name), join(folder, "node_modules", name), { recursive: true });
  }
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the packed package", () => {
  const program = `
    import { createClient, isSvcError } from "svc/client";
    const [, , baseUrl, apiKey] = process.argv;
    const client = createClient({ baseUrl, apiKey });
    const error = await client.run("missing").catch((thrown) => thrown);
    console.log(JSON.stringify([await client.run("echo", { a: 1 }), isSvcError(error) && error.code]));
  `;

  beforeAll(async () => {
    await deploy(server, { agents: { echo: "export default (input) => input;" } });
    writeFileSync(join(folder, "run.mjs"), program);
  });

  test.each(runtimes)("runs an agent from %s", async (runtime) => {
    const [command, ...args] = commandOf(runtime);
    const manual = runtime === "deno" ? ["--node-modules-dir=manual"] : [];
    const { stdout } = await run(command, [
      ...args,
      ...manual,
      join(folder, "run.mjs"),
      server.url,
      server.apiKey,
    ]);
    expect(JSON.parse(stdout)).toEqual([{ a: 1 }, "not_found"]);
  });
});

describe("the declarations", () => {
  const check = async (files: Record<string, string>, options: object) => {
    const project = join(folder, `types-${Math.random()}`);
    mkdirSync(project);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
    const compilerOptions = {
      module: "nodenext",
      target: "es2022",
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipLibCheck: false,
      ...options,
    };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    writeFileSync(join(project, "package.json"), '{"type":"module"}');
    const result = await run(bin("tsc"), ["-p", project]).catch((error: { stdout: string }) => error);
    expect(result.stdout).toBe("");
  };
  const browser = { lib: ["es2022", "dom", "dom.iterable"], types: [] };

  test("infer inputs and outputs from the targets of a project", async () => {
    await check(
      {
        "targets.ts": `declare module "svc/client" {
          interface Targets {
            triage: { input: { title: string }; output: { priority: "high" | "normal" } };
            tick: { input: { dry?: boolean }; output: null };
            loose: object;
          }
        }
        export {};`,
        "main.ts": `import { createClient, type Execution, type WatchEvent } from "svc/client";
        const client = createClient({ baseUrl: "https://svc.example.com", apiKey: "key" });
        const { priority } = await client.run("triage", { title: "crash" }, { waitSeconds: 5 });
        export const high: "high" | "normal" = priority;
        export const none: null = await client.run("tick");
        export const some: unknown = await client.run("loose", { any: [1] });
        export const started: Execution = await client.start("tick", { dry: true });
        export const at: Date | undefined = started.createdAt;
        // @ts-expect-error: an unknown name
        client.run("triages", { title: "crash" });
        // @ts-expect-error: the input is required
        client.run("triage");
        // @ts-expect-error: a wrong input
        client.run("triage", { title: 7 });
        // @ts-expect-error: an unknown property of the output
        (await client.run("triage", { title: "" })).nothing;
        for await (const event of client.watch(started.executionId)) show(event);
        function show(event: WatchEvent): string {
          return event.type === "log" ? event.log.message : event.execution.status;
        }`,
      },
      browser,
    );
  });

  test("accept any name without declared targets", async () => {
    await check(
      {
        "main.ts": `import { createClient, isSvcError } from "svc/client";
        const client = createClient({ baseUrl: "https://svc.example.com", apiKey: "key", retry: { attempts: 1 } });
        export const output: unknown = await client.run("anything", { title: "crash" });
        export const bare: unknown = await client.run("anything");
        // @ts-expect-error: the type of the output is unknown
        output.priority;
        // @ts-expect-error: an input is an object
        client.run("anything", 7);
        client.trigger("slug", {}, { idempotencyKey: "a" }).catch((error: unknown) => {
          if (isSvcError(error)) console.log(error.reason, error.executionId?.length);
        });`,
      },
      browser,
    );
  });
});
