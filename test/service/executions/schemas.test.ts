/** Schemas of zod, valibot and arktype on every path by which an input reaches the code. */
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, test } from "vitest";
import { BadRequestSchema } from "../../../proto/google/rpc/error_details_pb.ts";
import { ExecutionService } from "../../../proto/svc/v1/execution_pb.ts";
import { deployPackage, type ProjectSource, packProject, tryDeploy } from "../../support/project.ts";
import { call, ended, ok, reasonOf, run, runToEnd } from "../../support/rest.ts";
import type { DeploymentJson, ErrorJson, ExecutionJson, ViolationJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

const webhooks = [{ slug: "hook" }];
const retries = {
  enable_retry: true,
  retry_policy: { strategy: "fixed", initial_delay: 0, max_retries: 2 },
};

const agents = {
  zod: {
    code: `import { defineAgent } from "svc";
import { z } from "zod";
export default defineAgent({
  input: z.object({
    email: z.email(),
    at: z.string().transform((text) => new Date(text)).optional(),
    items: z.array(z.object({ id: z.number() })).default([]),
  }),
  output: z.object({ email: z.string(), year: z.number(), count: z.number() }),
  run: async (input, ctx) => {
    ctx.log.info("users' code runs");
    return { email: input.email, year: input.at?.getUTCFullYear() ?? 0, count: input.items.length };
  },
});`,
    description: "Checks an address.",
    expose_as_tool: true,
    webhooks,
    ...retries,
  },
  valibot: {
    code: `import { defineAgent } from "svc";
import * as v from "valibot";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
const item = v.object({ id: v.number() });
export default defineAgent({
  input: toStandardJsonSchema(v.object({ email: v.pipe(v.string(), v.email()), items: v.optional(v.array(item), []) })),
  run: async ({ email, items }) => ({ email, count: items.length }),
});`,
    webhooks,
  },
  arktype: {
    code: `import { defineAgent } from "svc";
import { type } from "arktype";
export default defineAgent({
  input: type({ email: "string.email", "items?": type({ id: "number" }).array() }),
  run: async ({ email, items = [] }) => ({ email, count: items.length }),
});`,
    webhooks,
  },
  later: `import { defineAgent } from "svc";
import * as v from "valibot";
const isFree = async (name: string) => name !== "taken";
export default defineAgent({
  input: v.objectAsync({ name: v.pipeAsync(v.string(), v.checkAsync(isFree, "is taken")) }),
  run: async ({ name }) => name,
});`,
  output: {
    code: `import { defineAgent } from "svc";
import { z } from "zod";
export default defineAgent({
  output: z.object({ ok: z.literal(true), at: z.string().default("now") }),
  run: async ({ ok }, { attempt }) => ({ ok: (ok ?? attempt > 1) as true }),
});`,
    ...retries,
  },
  mapped: {
    code: `export { default } from "./zod.ts";`,
    webhooks: [{ slug: "mapped", field_mapping: { "contact.mail": "email" } }],
  },
};

const workflows = {
  parent: `export default async ({ name, input }, ctx) => {
  try {
    return await ctx.run(name, input);
  } catch (error) {
    return { violations: error.violations, cause: error.cause.name };
  }
};`,
};

const dependencies = ["zod", "valibot", "@valibot/to-json-schema", "arktype"];
const project: ProjectSource = { agents, workflows, dependencies };
const packed = packProject(project);
const wrong = { email: "jane", items: [{ id: 1 }, { id: "two" }] };
const paths = ["input.email", "input.items[1].id"];

const fieldsOf = (violations: readonly ViolationJson[] | undefined) => violations?.map(({ field }) => field);

function fieldsOfError({ details = [] }: ErrorJson): string[] | undefined {
  const found = details.find(({ type }) => type === "google.rpc.BadRequest");
  const { field_violations } = (found?.debug ?? {}) as { field_violations?: ViolationJson[] };
  return fieldsOf(field_violations);
}

onRuntime("bun", "schemas", {}, (server) => {
  let deployment: DeploymentJson;
  beforeAll(async () => {
    deployment = await deployPackage(server, await packed);
  });
  const urlOf = (agent: string) => deployment.webhooks.find(({ name }) => name === agent)?.url ?? "";

  describe.each(["zod", "valibot", "arktype"])("of %s", (name) => {
    test("pass on a valid input", async () => {
      const execution = await runToEnd(server, name, { email: "ada@example.com", items: [{ id: 1 }] });
      expect(execution.output).toMatchObject({ email: "ada@example.com", count: 1 });
    });

    test("are stored with the deployment", async () => {
      const path = `/api/v1/deployments/${deployment.deployment_id}`;
      const { agents } = await ok<DeploymentJson>(server, "GET", path);
      expect(agents.find((agent) => agent.name === name)?.input_schema).toMatchObject({
        type: "object",
        properties: { email: { type: "string" }, items: { type: "array" } },
        required: ["email"],
      });
    });

    test("reject a wrong input over REST before it is stored", async () => {
      const answer = await call(server, "POST", "/api/v1/executions", { json: { name, input: wrong } });
      expect([answer.status, answer.json.code, reasonOf(answer.json)]).toEqual([
        400,
        "invalid_argument",
        "INPUT_INVALID",
      ]);
      expect(fieldsOfError(answer.json)).toEqual(paths);
      const { executions } = await ok<{ executions: ExecutionJson[] }>(
        server,
        "GET",
        `/api/v1/executions?name=${name}&status=failed`,
      );
      expect(executions).toEqual([]);
    });

    test("reject it over gRPC", async () => {
      const client = createClient(ExecutionService, createGrpcTransport({ baseUrl: server.url }));
      const headers = { authorization: `Bearer ${server.apiKey}` };
      const error = await client.runExecution({ name, input: wrong }, { headers }).then(
        () => null,
        (thrown: unknown) => ConnectError.from(thrown),
      );
      expect(error?.code).toBe(Code.InvalidArgument);
      const [details] = error?.findDetails(BadRequestSchema) ?? [];
      expect(details?.fieldViolations.map(({ field }) => field)).toEqual(paths);
    });

    test("fail the execution of ctx.run", async () => {
      const execution = await runToEnd(server, "parent", { name, input: wrong });
      const { violations, cause } = execution.output as { violations: ViolationJson[]; cause: string };
      expect([fieldsOf(violations), cause]).toEqual([paths, "InputError"]);
    });

    test("fail the execution of a webhook, and its sender sees the violations", async () => {
      const headers = { prefer: "wait=30" };
      const answer = await call(server, "POST", urlOf(name), { json: wrong, headers, key: null });
      expect(answer.status).toBe(500);
      expect(fieldsOfError(answer.json)).toEqual(paths);
      const execution = await ended(server, answer.json.execution_id ?? "");
      expect(execution).toMatchObject({ status: "failed", attempt: 1, error: { name: "InputError" } });
      expect(fieldsOf(execution.error?.violations)).toEqual(paths);
    });
  });

  test("the code receives the value that the schema returns", async () => {
    const execution = await runToEnd(server, "zod", { email: "ada@example.com", at: "2026-11-22" });
    expect(execution.output).toEqual({ email: "ada@example.com", year: 2026, count: 0 });
  });

  test("an asynchronous schema is awaited", async () => {
    expect((await runToEnd(server, "later", { name: "free" })).output).toBe("free");
    const answer = await call(server, "POST", "/api/v1/executions", {
      json: { name: "later", input: { name: "taken" } },
    });
    expect(answer.json.message).toContain("input.name: is taken");
  });

  test("a wrong output fails the attempt, which is retried", async () => {
    const execution = await runToEnd(server, "output");
    expect(execution).toMatchObject({ status: "succeeded", attempt: 2, output: { ok: true, at: "now" } });
    const failed = await runToEnd(server, "output", { ok: false });
    expect(failed).toMatchObject({ status: "failed", attempt: 3, error: { name: "OutputError" } });
    expect(fieldsOf(failed.error?.violations)).toEqual(["output.ok"]);
  });

  test("an edited input of a replay is checked", async () => {
    const { execution_id } = await run(server, "zod", { email: "ada@example.com" });
    const path = `/api/v1/executions/${execution_id}/replay`;
    const answer = await call(server, "POST", path, { json: { input: wrong } });
    expect(fieldsOfError(answer.json)).toEqual(paths);
  });

  test("the deployment shows description, tool and schemas of its targets", async () => {
    const [zod] = deployment.agents;
    expect(zod).toMatchObject({
      description: "Checks an address.",
      expose_as_tool: true,
      output_schema: { properties: { year: { type: "number" } } },
    });
    const later = deployment.agents.find(({ name }) => name === "later");
    // valibot alone gives no JSON Schema.
    expect([later?.input_schema, later?.output_schema]).toEqual([{}, undefined]);
  });

  test("a push names the line of an unknown parameter and of a wrong input", async () => {
    const answer = await tryDeploy(server, {
      name: "wrong",
      dependencies: ["zod"],
      agents: {
        zod: { ...agents.zod, webhooks: [{ slug: "s", field_mapping: { "a.b": "emial" } }] },
      },
      schedules: { agents: { zod: { cron: "0 0 1 1 *", input: wrong } } },
    });
    const { message, details = [] } = answer.json as unknown as ErrorJson;
    expect([answer.status, reasonOf({ code: "", message, details })]).toEqual([400, "PROJECT_INVALID"]);
    expect(message).toMatch(
      /yaml:\d+:\d+: the input schema has no property "emial" \(did you mean "email"\?\)/,
    );
    expect(message).toMatch(/yaml:\d+:\d+: input\.email violates the input schema: /);
    expect(message).toMatch(/yaml:\d+:\d+: input\.items\[1\]\.id violates the input schema: /);
  });
});
