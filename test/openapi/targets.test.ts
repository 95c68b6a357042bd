/** The document with a key: the agents and workflows of the caller. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, expect, test } from "vitest";
import { embed } from "../../server/openapi/embed.ts";
import { deploy } from "../support/project.ts";
import { call, expectError, ok } from "../support/rest.ts";
import { useServer } from "../support/suite.ts";
import { fetchDocument, type OpenApi } from "./document.ts";

const server = useServer("node");
const code = `const schema = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }), jsonSchema: {
  input: () => ({ type: "object", properties: { n: { type: "number" } }, required: ["n"] }),
  output: () => ({ type: "string" }),
} } };
export default { input: schema, output: schema, run: ({ n }) => "n".repeat(n) };`;

beforeAll(async () => {
  const agents = { typed: { code, description: "Repeats a letter." }, plain: "export default () => null;" };
  await deploy(server, { agents });
});

test("describes the inputs and outputs of the environment of the path", async () => {
  const { schemas } = (await fetchDocument(server, server.apiKey)).components;
  expect(schemas["agent.typed.input"]).toMatchObject({ properties: { n: { type: "number" } } });
  expect(schemas["agent.typed.output"]).toEqual({ type: "string" });
  expect(schemas["agent.typed.run"]).toMatchObject({
    description: "Runs the agent typed. Repeats a letter.",
    properties: {
      name: { const: "typed" },
      input: { $ref: "#/components/schemas/agent.typed.input" },
      environment: { const: "production" },
    },
    required: ["name", "input"],
    additionalProperties: false,
  });
  expect(schemas["agent.plain.run"]).toMatchObject({ required: ["name"] });
});

test("has only the server of the environment of the path", async () => {
  await deploy(server, { agents: { plain: "export default () => null;" } }, { environment: "staging" });
  const staging = await ok<OpenApi>(server, "GET", "/env/staging/openapi.json");
  expect(staging.servers.map(({ url }) => url)).toEqual(["/env/staging"]);
  expect(staging.components.schemas["agent.plain.run"]).toMatchObject({
    properties: { environment: { const: "staging" } },
  });
  const production = await fetchDocument(server, server.apiKey);
  expect(production.servers.map(({ url }) => url)).toEqual(["/"]);
});

test("names an environment without an active deployment", async () => {
  const empty = await ok<OpenApi>(server, "GET", "/env/empty/openapi.json");
  expect(empty.info.description).toContain("The environment `empty` has no active deployment.");
  expect(empty.servers.map(({ url }) => url)).toEqual(["/env/empty"]);
  expect(empty.components).toEqual((await fetchDocument(server)).components);
});

test("is valid, and shared caches do not store it", async () => {
  const answer = await call<Record<string, unknown>>(server, "GET", "/openapi.json");
  expect((await new Validator().validate(answer.json)).errors).toBeUndefined();
  expect(answer.headers.get("cache-control")).toBe("private, no-cache");
  expect(answer.headers.get("vary")?.toLowerCase()).toContain("authorization");
});

test("needs a valid key when one is given", async () => {
  expectError(
    await call(server, "GET", "/openapi.json", { key: "svc_wrong" }),
    401,
    "unauthenticated",
    /key/,
  );
});

test("definitions become components, and references follow them", () => {
  const schema = {
    $id: "https://example.com/tree",
    properties: { a: { $ref: "#/$defs/a~1b" }, const: { $ref: "#" }, other: { $ref: "https://example.com" } },
    default: { $ref: "#/$defs/a~1b" },
    $defs: { "a/b": { items: { $ref: "#/definitions/n/items/0" } }, "a?b": true },
    definitions: { n: { items: [{ $ref: "#/$defs/unknown" }] } },
  };
  const root = "#/components/schemas/t";
  expect(embed(schema, "t")).toEqual({
    t: {
      properties: {
        a: { $ref: `${root}.a_b` },
        const: { $ref: root },
        other: { $ref: "https://example.com" },
      },
      default: { $ref: "#/$defs/a~1b" },
    },
    "t.a_b": { items: { $ref: `${root}.n/items/0` } },
    "t.a_b_": true,
    "t.n": { items: [{ $ref: `${root}/$defs/unknown` }] },
  });
});
