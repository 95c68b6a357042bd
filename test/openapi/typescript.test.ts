/** A TypeScript client that openapi-typescript generates from the document: type-checked, and run against a server. */
import { execFile } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { bin, root } from "../support/runtimes.ts";
import { useServer } from "../support/suite.ts";
import { fetchDocument } from "./document.ts";

const run = promisify(execFile);
const server = useServer("bun");
let folder: string;

/** A schema that refers to itself, so that references must still resolve inside the document. */
const node = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $ref: "#/$defs/node",
  $defs: {
    node: {
      type: "object",
      properties: { label: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
      required: ["label"],
    },
  },
};
const typed = `const jsonSchema = { input: () => (${JSON.stringify(node)}), output: () => ({}) };
const schema = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }), jsonSchema } };
export default { input: schema, run: (input) => input };`;

beforeAll(async () => {
  const code = "export default (input) => { console.log('hi'); return input; };";
  const environments = { staging: {} };
  await deploy(server, { environments, agents: { echo: { code, webhooks: [{ slug: "hook" }] }, typed } });
  folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-openapi-")));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(await fetchDocument(server, server.apiKey)));
  const generator = join(root, "node_modules/openapi-typescript/bin/cli.js");
  const api = join(import.meta.dirname, "typescript-api.ts");
  await run(bin("node"), ["--import", api, generator, "openapi.json", "-o", "schema.d.ts"], { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const client = `import createClient from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";

const [, , baseUrl = "", apiKey = ""] = process.argv;
const client = createClient<paths>({ baseUrl, headers: { authorization: "Bearer " + apiKey } });
const fail = (error: components["schemas"]["Error"]) => error.code + ": " + error.message;

const started = await client.POST("/api/v1/executions", { body: { name: "echo", input: { a: 1 } } });
const id: string = started.data?.execution_id ?? "";

// The lines of a stream have the type of the events.
const stream = await client.GET("/api/v1/executions/{execution_id}/watch", {
  params: { path: { execution_id: id } },
  parseAs: "text",
});
type Line = components["schemas"]["WatchExecutionResponse"];
const lines = (stream.data ?? "").trim().split("\\n").map((line) => JSON.parse(line) as Line);

const got = await client.GET("/api/v1/executions/{execution_id}", { params: { path: { execution_id: id } } });
const list = await client.GET("/api/v1/executions", { params: { query: { status: "succeeded", page_size: 1 } } });
const missing = await client.GET("/api/v1/deployments/{deployment_id}", {
  params: { path: { deployment_id: "dep_00000000000000000000000000" } },
});
const secret = await client.PUT("/api/v1/secrets/{name}", {
  params: { path: { name: "TOKEN" } },
  body: { value: "secret" },
});
const removed = await client.DELETE("/api/v1/secrets/{name}", { params: { path: { name: "TOKEN" } } });
const hooks = await client.GET("/api/v1/webhooks/list");
const waited = await client.POST("/webhook/{org_id}/agent/{agent_name}/{slug}", {
  params: {
    path: { org_id: hooks.data?.organization?.org_id ?? "", agent_name: "echo", slug: "hook" },
    header: { Prefer: "wait=30" },
  },
  body: { b: 2 },
});
const output = waited.data !== undefined && "output" in waited.data ? waited.data.output : null;
console.log(JSON.stringify({
  status: got.data?.status,
  attempt: got.data?.attempt,
  last: lines.at(-1)?.execution?.status ?? lines.at(-1)?.log?.message,
  listed: list.data?.executions.length,
  missing: missing.error && fail(missing.error),
  secret: [secret.data?.name, removed.response.status],
  output,
}));
`;

const mistakes = `
// @ts-expect-error: an unknown path
client.GET("/api/v1/nothing");
// @ts-expect-error: a wrong type of a field
client.POST("/api/v1/executions", { body: { name: 7 } });
// @ts-expect-error: a wrong type of the input of an agent
client.POST("/api/v1/executions", { body: { name: "typed", input: { label: "a", children: [{ label: 7 }] } } });
// @ts-expect-error: the agent needs an input
client.POST("/api/v1/executions", { body: { name: "typed" } });
client.POST("/api/v1/executions", { body: { name: "typed", input: { label: "a", children: [{ label: "b" }] } } });
// @ts-expect-error: no such agent
client.POST("/api/v1/executions", { body: { name: "missing" } });
// @ts-expect-error: an unknown query parameter
client.GET("/api/v1/executions", { params: { query: { state: "failed" } } });
// @ts-expect-error: the path parameter is required
client.GET("/api/v1/executions/{execution_id}", { params: { path: {} } });
// @ts-expect-error: a wrong type
got.data?.attempt.toUpperCase();
`;

test("type-checks, and rejects mistakes", async () => {
  writeFileSync(join(folder, "check.ts"), client + mistakes);
  const compilerOptions = {
    ...{ module: "nodenext", target: "esnext", strict: true, noEmit: true, skipLibCheck: false },
    ...{ lib: ["esnext", "dom"], types: ["node"], allowImportingTsExtensions: true },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["check.ts"] }));
  const { stdout } = await run(bin("tsc"), ["-p", folder]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});

test("calls the service", async () => {
  writeFileSync(join(folder, "main.ts"), client);
  const { stdout } = await run(bin("node"), [join(folder, "main.ts"), server.url, server.apiKey]);
  expect(JSON.parse(stdout)).toEqual({
    status: "succeeded",
    attempt: 1,
    last: expect.stringMatching(/^(succeeded|hi)/),
    listed: 1,
    missing: expect.stringMatching(/^not_found: There is no deployment/),
    secret: ["TOKEN", 200],
    output: { b: 2 },
  });
});
