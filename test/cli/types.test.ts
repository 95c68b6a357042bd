/** `svc types`, and the compiler's errors with the declaration that it writes. */
import { execFile } from "node:child_process";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { bin, root } from "../support/runtimes.ts";
import { newFolder, svc, writeFiles } from "./support.ts";

const files = {
  "svc-project.yaml": `name: typed
version: "1.0.0"
agents:
  - name: check
    webhooks:
      - { slug: hook, signature: { scheme: github, secret: HOOK_SECRET } }
  - name: plain
  - name: script
workflows:
  - name: all-of-them
vars: { LIMIT: 5, MODE: fast }
environments:
  staging:
    vars: { MODE: true, EXTRA: x }
`,
  ".env.example": "TOKEN=abc\n# OPTIONAL=\nSVC_BASE_URL=http://127.0.0.1\n",
  "agents/check.ts": `import { defineAgent } from "svc";
import { z } from "zod";
export default defineAgent({
  input: z.object({ email: z.email(), tries: z.number().default(1) }),
  run: async ({ tries }, ctx) => ({ at: new Date(), tries, token: ctx.secrets.TOKEN.length + ctx.vars.LIMIT }),
});
`,
  "agents/plain.ts": `import { defineAgent } from "svc";
interface Input { title: string }
export default defineAgent(async (input: Input, ctx) => {
  const { tries } = await ctx.run("check", { email: input.title });
  return { tries };
});
`,
  "agents/script.js": "export default () => 1;\n",
  "workflows/all-of-them.ts": `import { defineWorkflow } from "svc";
import { createClient } from "svc/client";
export default defineWorkflow(async (_, ctx) => {
  const issue: { title: string; extra?: number } = { title: "x" };
  const { tries } = await ctx.run("plain", issue, { key: "a" });
  const { at } = await createClient({ baseUrl: "http://127.0.0.1" }).run("check", { email: "a@b.c" });
  const text: string = at;
  await ctx.run("script");
  const secrets: Readonly<Record<string, string | undefined>> = ctx.secrets;
  return { tries, text, other: secrets[text] ?? null };
});
`,
};

const wrong = `import { defineAgent } from "svc";
import { createClient } from "svc/client";
export default defineAgent(async (_, ctx) => {
  await ctx.run("chekc", { email: "a@b.c" });
  await ctx.run("check", { email: 1 });
  await ctx.run("check");
  const maybe: string = ctx.secrets.OPTIONAL;
  await createClient({ baseUrl: "http://127.0.0.1" }).run("plain", { name: maybe });
  const mode: string = ctx.vars.MODE;
  console.log(ctx.vars.MODEE);
  console.log(ctx.secrets.TOKNE);
});
`;

let folder: string;
beforeAll(async () => {
  folder = await newFolder();
  const modules = join(folder, "node_modules");
  await mkdir(join(modules, "@types"), { recursive: true });
  for (const name of ["@types/node", "undici-types", "zod"])
    await symlink(join(root, "node_modules", name), join(modules, name));
  const exports = { ".": "./project/authoring.ts", "./client": "./client/index.ts" };
  const manifest = { name: "svc", type: "module", exports };
  await writeFiles(join(modules, "svc"), { "package.json": JSON.stringify(manifest) });
  for (const name of ["project", "client", "proto"])
    await symlink(join(root, name), join(modules, "svc", name));
  const tsconfig = await readFile(join(root, "templates/common/tsconfig.json"), "utf8");
  await writeFiles(folder, { ...files, "tsconfig.json": tsconfig, "package.json": `{"type":"module"}` });
});

/** The errors in the files of the project. */
function compile(): Promise<string[]> {
  return new Promise((resolve) => {
    execFile(bin("tsc"), ["-p", "."], { cwd: folder }, (_error, stdout) => {
      resolve(stdout.split("\n").filter((line) => /^(?:agents|workflows|svc)/.test(line)));
    });
  });
}

test("writes a declaration with which the project compiles", async () => {
  const check = await svc("node", ["types", "--check"], { cwd: folder });
  expect([check.code, check.stderr]).toEqual([1, expect.stringContaining("svc-env.d.ts is out of date")]);
  const { code, stdout } = await svc("node", ["types", "--json"], { cwd: folder });
  expect([code, JSON.parse(stdout)]).toEqual([0, { path: "svc-env.d.ts", changed: true }]);
  expect((await svc("bun", ["types", "--check"], { cwd: folder })).code).toBe(0);
  expect(await readFile(join(folder, "svc-env.d.ts"), "utf8")).toMatchSnapshot();
  expect(await compile()).toEqual([]);
});

test("the compiler rejects unknown names, wrong inputs and secrets that may be missing", async () => {
  await writeFiles(folder, { "agents/wrong.ts": wrong });
  expect((await compile()).map((line) => line.replace(/,\d+\).*TS/, ") TS").slice(0, 27))).toEqual([
    "agents/wrong.ts(4) TS2345: ",
    "agents/wrong.ts(5) TS2322: ",
    "agents/wrong.ts(6) TS2554: ",
    "agents/wrong.ts(7) TS2322: ",
    "agents/wrong.ts(8) TS2353: ",
    "agents/wrong.ts(9) TS2322: ",
    "agents/wrong.ts(10) TS2551:",
    "agents/wrong.ts(11) TS2551:",
  ]);
});

test("the compiler rejects all secrets and variables of a project that declares none", async () => {
  await writeFiles(folder, {
    "svc-project.yaml": 'name: typed\nversion: "1"\nagents: [{ name: wrong }]\n',
    "agents/wrong.ts":
      'import { defineAgent } from "svc";\nexport default defineAgent((_, ctx) => [ctx.secrets.A, ctx.vars.A]);\n',
    ".env.example": "",
  });
  expect((await svc("node", ["types"], { cwd: folder })).code).toBe(0);
  const errors = (await compile()).filter((line) => line.startsWith("agents/wrong.ts"));
  expect(errors).toEqual([expect.stringMatching(/TS2339.*'A'/), expect.stringMatching(/TS2339.*'A'/)]);
});

test("does not overwrite a file of a person", async () => {
  const other = await newFolder();
  await writeFiles(other, { ...files, "svc-env.d.ts": "export {};\n" });
  const { code, stderr } = await svc("node", ["types"], { cwd: other });
  expect([code, stderr]).toEqual([1, expect.stringContaining("did not write the present file")]);
});
