/** The published declarations of `svc` and `svc/plugin`, compiled in a project that checks the types of libraries. */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bin, root } from "../support/runtimes.ts";
import { run } from "./runtimes.ts";

let folder: string;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-types-")));
  const installed = join(folder, "node_modules", "svc");
  mkdirSync(installed, { recursive: true });
  cpSync(join(root, "package.json"), join(installed, "package.json"));
  const build = {
    extends: join(root, "tsconfig.build.json"),
    compilerOptions: {
      rootDir: root,
      outDir: join(installed, "dist"),
      typeRoots: [join(root, "node_modules", "@types")],
      emitDeclarationOnly: true,
    },
    include: [],
    files: [join(root, "project", "authoring.ts"), join(root, "plugin", "index.ts")],
  };
  writeFileSync(join(folder, "build.json"), JSON.stringify(build));
  const built = await run([bin("tsc"), "-p", join(folder, "build.json")]);
  expect(built).toMatchObject({ code: 0, stdout: "" });
  // ofetch and its dependencies, but not undici, which npm does not install with it.
  for (const name of ["ofetch", "destr", "ufo", "node-fetch-native", "@types/node", "undici-types"]) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", name), link);
  }
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(
    join(folder, "agent.ts"),
    `import { defineAgent, defineWorkflow } from "svc";
    export default defineAgent(async (input: { email: string }, ctx) => {
      ctx.log.info(input.email);
      return { id: ctx.executionId, aborted: ctx.signal.aborted };
    });
    export const workflow = defineWorkflow(async (_input: object, ctx) => ctx.run("agent", { email: "a" }));`,
  );
  writeFileSync(
    join(folder, "plugin.ts"),
    `import { isRestError, RestPlugin, type RestPluginOptions, toAiSdkTools, toMcpTools, toOpenAiTools } from "svc/plugin";
    const options: RestPluginOptions = {
      baseUrl: "https://api.example.com",
      apiKey: "key",
      headers: { "x-team": "a" },
      retry: { attempts: 2 },
      dispatcher: {},
      credentials: "omit",
      onRequest: ({ options }) => options.headers.set("x-trace", "1"),
      onResponse: [({ response }) => console.log(response.status)],
    };
    export async function call(): Promise<number> {
      const api = new RestPlugin(options);
      const { id } = await api.get<{ id: number }>("/items", { params: { limit: 1 }, signal: AbortSignal.timeout(1) });
      const progress = { onProgress: ({ totalBytes }: { totalBytes: number | null }) => void totalBytes };
      await api.downloadFile("/file", "./file", progress).catch((error: unknown) => isRestError(error) && error.code);
      return id + toOpenAiTools(api.tools).chat.length + Object.keys(toAiSdkTools(api.tools, (tool) => tool)).length;
    }
    export const { list } = toMcpTools(new RestPlugin(options).tools);
    // @ts-expect-error: the plugin follows redirects itself
    export const reserved: RestPluginOptions = { baseUrl: "https://api.example.com", redirect: "follow" };
    // @ts-expect-error: a misspelt option
    export const misspelt: RestPluginOptions = { baseUrl: "https://api.example.com", timeOut: 1 };`,
  );
});

afterAll(() => rmSync(folder, { recursive: true }));

const configurations: [string, object][] = [
  ["the types of Node and no DOM", { lib: ["es2023"], types: ["node"] }],
  ["the types of Node and the default libraries", { target: "es2022", types: ["node"] }],
  ["the DOM and no types of Node", { lib: ["esnext", "dom", "dom.iterable"], types: [] }],
];

test.each(configurations)(
  "the declarations compile without skipLibCheck, with %s",
  async (_name, options) => {
    const compilerOptions = {
      module: "nodenext",
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      ...options,
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    const { code, stdout } = await run([bin("tsc"), "-p", folder], { cwd: folder });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  },
);
