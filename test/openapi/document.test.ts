/** The document at `/openapi.json`: valid, complete, with examples that match their schemas. */
import { getOption } from "@bufbuild/protobuf";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { beforeAll, describe, expect, test } from "vitest";
import { http } from "../../proto/google/api/annotations_pb.ts";
import { scope } from "../../proto/svc/v1/options_pb.ts";
import { services } from "../../server/services/index.ts";
import { deploy } from "../support/project.ts";
import { call, ok, open, runToEnd } from "../support/rest.ts";
import { useServer } from "../support/suite.ts";
import { fetchDocument, type MediaType, type OpenApi, operationsOf } from "./document.ts";

const server = useServer("bun");
const methods = services.flatMap((service) => service.methods);
let document: OpenApi;
let validate: (schema: object, value: unknown) => string[];

beforeAll(async () => {
  document = await fetchDocument(server);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  for (const format of ["int32", "int64", "uint32", "uint64", "float", "double"]) ajv.addFormat(format, true);
  ajv.addSchema({ $id: "openapi", components: document.components });
  const compiled = new Map<object, ValidateFunction>();
  validate = (schema, value) => {
    // The references are relative to the document.
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"openapi#'));
    const check = compiled.get(schema) ?? ajv.compile(absolute);
    compiled.set(schema, check);
    if (check(value)) return [];
    return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
});

test("is valid OpenAPI 3.1", async () => {
  const { valid, errors } = await new Validator().validate(structuredClone({ ...document }));
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(document).not.toHaveProperty("webhooks");
});

test("has an operation with a unique id for every REST path of the contract", () => {
  const expected = methods.flatMap((method) => {
    const rule = getOption(method, http);
    return [rule, ...rule.additionalBindings].map(({ pattern }) => `${pattern.case} ${pattern.value}`);
  });
  const operations = operationsOf(document);
  const described = operations.map(({ path, verb }) => `${verb} ${path}`);
  expect(described.toSorted()).toEqual([...expected, "get /livez", "get /readyz"].toSorted());
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
});

test("describes every operation, parameter and property", () => {
  for (const { path, verb, operation } of operationsOf(document)) {
    expect(operation.summary, `${verb} ${path}`).toMatch(/^[A-Z].{8,}$/);
    expect(operation.description, `${verb} ${path}`).toMatch(/^[A-Z].+\.$/s);
    for (const parameter of operation.parameters ?? []) {
      expect(parameter, `${parameter.name} of ${verb} ${path}`).toHaveProperty("description");
      expect(parameter, `${parameter.name} of ${verb} ${path}`).toHaveProperty("example");
    }
  }
  const properties = Object.entries(document.components.schemas).flatMap(([name, { properties = {} }]) =>
    Object.entries(properties).map(([property, schema]) => ({ place: `${name}.${property}`, schema })),
  );
  expect(properties.length).toBeGreaterThan(150);
  const bare = properties.filter(({ schema: { description, $ref } }) => !description && !$ref);
  expect(bare.map(({ place }) => place)).toEqual([]);
});

test("names the security and the scope of each operation", () => {
  const operations = operationsOf(document);
  for (const method of methods) {
    const needed = getOption(method, scope);
    const found = operations.find(({ operation: { operationId } }) => operationId === method.localName);
    expect(found?.operation.security, method.name).toEqual(needed === "none" ? [] : [{ apiKey: [needed] }]);
  }
});

describe("examples", () => {
  const all = (): { place: string; media: MediaType }[] => [
    ...operationsOf(document).flatMap(({ operation }) => [
      ...(operation.parameters ?? []).map((one) => ({
        place: `${operation.operationId} ${one.name}`,
        media: one,
      })),
      ...Object.values(operation.requestBody?.content ?? {}).map((media) => ({
        place: `${operation.operationId} request`,
        media,
      })),
      ...Object.entries(operation.responses).flatMap(([status, { content = {} }]) =>
        Object.values(content).map((media) => ({ place: `${operation.operationId} ${status}`, media })),
      ),
    ]),
    ...Object.entries(document.components.responses).flatMap(([place, { content }]) =>
      Object.values(content).map((media) => ({ place, media })),
    ),
  ];

  test("match their schemas", () => {
    const given = all().filter(({ media }) => media.example !== undefined);
    expect(given.length).toBeGreaterThan(80);
    const wrong = given.flatMap(({ place, media }) =>
      validate(media.schema, media.example).map((problem) => `${place}: ${problem}`),
    );
    expect(wrong).toEqual([]);
  });

  test("exist for every JSON body", () => {
    const missing = operationsOf(document).flatMap(({ operation }) =>
      [operation.requestBody, ...Object.values(operation.responses)].flatMap((body) =>
        Object.entries(body?.content ?? {})
          .filter(([type, { example }]) => type.includes("json") && example === undefined)
          .map(() => operation.operationId),
      ),
    );
    expect(missing).toEqual([]);
  });
});

describe("the rules of the contract", () => {
  const schema = () => {
    const run = document.paths["/api/v1/executions"]?.post;
    expect(run?.requestBody?.required).toBe(true);
    return run?.requestBody?.content["application/json"]?.schema ?? {};
  };

  test.each([{ name: "triage" }, { name: "triage", kind: "agent", input: { a: 1 }, environment: "staging" }])(
    "accept %j",
    (body) => expect(validate(schema(), body)).toEqual([]),
  );

  test.each([{}, { name: "" }, { name: 7 }, { name: "a", nope: 1 }, { name: "a", kind: "job" }])(
    "reject %j, and so does the server",
    async (body) => {
      expect(validate(schema(), body)).not.toEqual([]);
      const answer = await call(server, "POST", "/api/v1/executions", { json: body });
      expect(answer.status, answer.text).toBe(400);
      const errors = document.components.responses.InvalidArgument?.content["application/json"]?.schema;
      expect(validate(errors ?? { not: {} }, answer.json)).toEqual([]);
    },
  );

  test("mark fields that only the server sets, and limits of parameters", () => {
    expect(document.components.schemas.Execution?.properties?.status).toMatchObject({ readOnly: true });
    const list = document.paths["/api/v1/executions"]?.get?.parameters ?? [];
    const schemaOf = (name: string) => list.find((parameter) => parameter.name === name)?.schema;
    expect(schemaOf("page_size")).toMatchObject({ type: "integer", minimum: 0 });
    expect(schemaOf("kind")).toMatchObject({ enum: ["agent", "workflow", "alert"] });
    expect(schemaOf("since")).toMatchObject({ type: "string", format: "date-time" });
  });

  test.each([
    ["Execution", "trigger", ["webhook", "schedule", "run", "replay", "child", "failure"]],
    ["Execution", "status", ["queued", "running", "succeeded", "failed", "cancelled"]],
    ["Deployment", "status", ["pending", "active", "superseded", "failed", "deleted"]],
    ["Delivery", "outcome", ["accepted", "rejected", "ignored", "handshake", "replayed"]],
    ["CheckResponse", "status", ["ok", "degraded"]],
  ])("list the words of %s.%s in responses", (message, field, words) => {
    expect(document.components.schemas[message]).toMatchObject({ properties: { [field]: { enum: words } } });
  });

  test("write 64-bit integers and durations as strings", () => {
    const { Deployment, DeployedTarget } = document.components.schemas;
    expect(Deployment?.properties?.size_bytes).toMatchObject({ type: "string", format: "int64" });
    expect(DeployedTarget?.properties?.timeout).toMatchObject({
      type: "string",
      pattern: expect.any(String),
    });
  });
});

test("matches the responses of the server", async () => {
  const code =
    "export default (input) => { console.log('hi'); if (input.fail) throw new Error('no'); return input; };";
  const { deployment_id } = await deploy(server, {
    agents: { echo: { code, webhooks: [{ slug: "hook", field_mapping: { a: "fail" } }] } },
    schedules: { agents: { echo: { cron: "0 0 1 1 *" } } },
  });
  const { execution_id } = await runToEnd(server, "echo", { fail: true });
  await runToEnd(server, "echo", { list: [1, null, { x: true }] });
  const listed = await ok<{ agents: { webhooks: { url: string }[] }[] }>(
    server,
    "GET",
    "/api/v1/webhooks/list",
  );
  const url = listed.agents[0]?.webhooks[0]?.url ?? "";
  await ok(server, "PUT", "/api/v1/secrets/TOKEN", { json: { value: "xyzxyz" } });
  const variables: Record<string, string> = { deployment_id, execution_id, name: "echo" };
  const reading = operationsOf(document).filter(
    ({ verb, path }) => verb === "get" && !/\{delivery_id\}|download/.test(path),
  );
  expect(reading.length).toBeGreaterThan(12);
  for (const { path, operation } of reading) {
    const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => variables[name] ?? name);
    const query = path.endsWith("/source") ? "?path=agents/echo.ts&line=1" : "";
    const answer = await call(server, "GET", target + query);
    const media = operation.responses[String(answer.status)]?.content ?? {};
    const [type = "", { schema } = { schema: {} }] = Object.entries(media)[0] ?? [];
    expect(answer.headers.get("content-type"), `${path}: ${answer.text}`).toBe(type);
    const lines = answer.text.trim().split("\n");
    expect(
      lines.flatMap((line) => validate(schema, JSON.parse(line))),
      path,
    ).toEqual([]);
  }
  const hook = document.paths["/webhook/{org_id}/agent/{agent_name}/{slug}"]?.post;
  for (const [prefer, json, status] of [
    ["wait=30", { a: false }, 200],
    ["wait=30", { a: true }, 500],
    ["respond-async", {}, 202],
  ] as const) {
    const answer = await call<unknown>(server, "POST", url, { json, headers: { prefer }, key: null });
    expect(answer.status).toBe(status);
    const schema = hook?.responses[String(status)]?.content?.["application/json"]?.schema ?? { not: {} };
    expect(validate(schema, answer.json)).toEqual([]);
  }
});

test("needs no key, contains no organization and can be cached", async () => {
  const { organization } = await ok<{ organization: string }>(server, "GET", "/health");
  const first = await call<OpenApi>(server, "GET", "/openapi.json", { key: null });
  expect(first.headers.get("content-type")).toBe("application/json");
  expect(first.headers.get("cache-control")).toMatch(/^public, max-age=\d+$/);
  expect(first.text).not.toContain(organization);
  expect(first.json.servers[0]?.url).toBe("/");
  const etag = first.headers.get("etag") ?? "";
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const again = await call(server, "GET", "/openapi.json", {
      key: null,
      headers: { "if-none-match": known },
    });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
  }
  const changed = await call(server, "GET", "/openapi.json", { headers: { "if-none-match": '"other"' } });
  expect(changed.status).toBe(200);
  const head = await open(server, "HEAD", "/openapi.json", { key: null });
  expect([head.status, await head.text(), head.headers.get("etag")]).toEqual([200, "", etag]);
  const posted = await call(server, "POST", "/openapi.json", { json: {} });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});
