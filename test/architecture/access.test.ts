/**
 * Tests authentication, scopes and the separation of organizations for every method of the contract, over RPC and over
 * each REST path. A new method fails until `requests` below has an entry for it.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { getOption } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { scope } from "../../proto/svc/v1/options_pb.ts";
import { scopes } from "../../server/keys.ts";
import { services } from "../../server/services/index.ts";
import { deploy } from "../support/project.ts";
import { call, ended, ok } from "../support/rest.ts";
import { commandOf, root } from "../support/runtimes.ts";
import type { AcceptedJson, HealthJson, ScheduleJson } from "../support/shapes.ts";
import { useServer } from "../support/suite.ts";
import { type Fields, waysOf } from "./calls.ts";

const server = useServer("node");
const methods = services.flatMap((service) => service.methods);

/** Data of the first organization. No response to another organization may contain it. */
const owned = {
  org_id: "",
  digest: "",
  deployment_id: "",
  execution_id: "",
  delivery_id: "",
  schedule_id: "",
  key_id: "",
  name: "owned-by-the-first",
  secret: "OWNED_SECRET",
  said: "said-by-the-first",
};

/** The response to another organization: not found, or only its own data. */
type Shown = "as unknown" | "its own";

/** For each method: a request for data of the first organization. */
const requests: Readonly<Record<string, { fields: () => Fields; shown: Shown }>> = {
  CreateUpload: { fields: () => ({ digest: owned.digest, size_bytes: 100 }), shown: "its own" },
  CreateDeployment: { fields: () => ({ digest: owned.digest }), shown: "as unknown" },
  GetDeployment: { fields: () => ({ deployment_id: owned.deployment_id }), shown: "as unknown" },
  ListDeployments: { fields: () => ({}), shown: "its own" },
  RollbackDeployment: { fields: () => ({ deployment_id: owned.deployment_id }), shown: "as unknown" },
  DeleteDeployment: { fields: () => ({ deployment_id: owned.deployment_id }), shown: "as unknown" },
  GetSourceLines: {
    fields: () => ({ deployment_id: owned.deployment_id, path: "agents/a.ts", line: 1 }),
    shown: "as unknown",
  },
  DownloadDeployment: { fields: () => ({ deployment_id: owned.deployment_id }), shown: "as unknown" },
  ListWebhooks: { fields: () => ({}), shown: "its own" },
  ListDeliveries: { fields: () => ({}), shown: "its own" },
  GetDelivery: { fields: () => ({ delivery_id: owned.delivery_id }), shown: "as unknown" },
  RedeliverWebhook: { fields: () => ({ delivery_id: owned.delivery_id }), shown: "as unknown" },
  RunExecution: { fields: () => ({ name: owned.name }), shown: "as unknown" },
  GetExecution: { fields: () => ({ execution_id: owned.execution_id }), shown: "as unknown" },
  ListExecutions: { fields: () => ({}), shown: "its own" },
  CancelExecution: { fields: () => ({ execution_id: owned.execution_id }), shown: "as unknown" },
  ReplayExecution: { fields: () => ({ execution_id: owned.execution_id }), shown: "as unknown" },
  DownloadExecution: {
    fields: () => ({ execution_id: owned.execution_id, field: "input" }),
    shown: "as unknown",
  },
  WatchExecution: { fields: () => ({ execution_id: owned.execution_id }), shown: "as unknown" },
  TailLogs: { fields: () => ({ lines: 10_000 }), shown: "its own" },
  ListSchedules: { fields: () => ({}), shown: "its own" },
  GetSchedule: { fields: () => ({ name: owned.name }), shown: "as unknown" },
  PauseSchedule: { fields: () => ({ name: owned.name }), shown: "as unknown" },
  ResumeSchedule: { fields: () => ({ name: owned.name }), shown: "as unknown" },
  GetOrganization: { fields: () => ({}), shown: "its own" },
  CreateApiKey: { fields: () => ({ name: "of the second" }), shown: "its own" },
  ListApiKeys: { fields: () => ({}), shown: "its own" },
  RevokeApiKey: { fields: () => ({ key_id: owned.key_id }), shown: "as unknown" },
  DeleteSecret: { fields: () => ({ name: owned.secret }), shown: "as unknown" },
  ListSecrets: { fields: () => ({}), shown: "its own" },
  SetSecret: { fields: () => ({ name: "OF_THE_SECOND", value: "x" }), shown: "its own" },
  Check: { fields: () => ({}), shown: "its own" },
  GetStatistics: { fields: () => ({}), shown: "its own" },
  WatchStatistics: { fields: () => ({}), shown: "its own" },
};

/** The only method without a key: its URL is a secret. */
const open = "TriggerWebhook";

/** The same request with identifiers that do not exist. */
function withUnknownIds(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "string" && name !== "field"
        ? value.replace(/[a-z0-9]{4}$/i, (end) => (end === "0000" ? "1111" : "0000"))
        : value,
    ]),
  );
}

let second = "";
beforeAll(async () => {
  const deployment = await deploy(server, {
    agents: {
      [owned.name]: {
        code: `export default (_, ctx) => { console.log("${owned.said}"); return ctx.secrets.${owned.secret}.slice(0, 6); };`,
        webhooks: [{ slug: "hook" }],
      },
    },
    schedules: { agents: { [owned.name]: { cron: "0 0 1 1 *" } } },
  });
  Object.assign(owned, { deployment_id: deployment.deployment_id, digest: deployment.digest });
  owned.org_id = (await ok<HealthJson>(server, "GET", "/health")).organization;
  await ok(server, "PUT", `/api/v1/secrets/${owned.secret}`, { json: { value: "secret-of-the-first" } });
  const path = `/webhook/${owned.org_id}/agent/${owned.name}/hook`;
  const accepted = await call<AcceptedJson>(server, "POST", path, { json: { from: owned.said } });
  owned.execution_id = accepted.json.execution_id;
  await ended(server, owned.execution_id);
  const { schedule_id } = await ok<ScheduleJson>(server, "GET", `/api/v1/schedules/${owned.name}`);
  owned.schedule_id = schedule_id;
  const { keys } = await ok<{ keys: { key_id: string }[] }>(server, "GET", "/api/v1/keys");
  owned.key_id = keys[0]?.key_id ?? "";
  owned.delivery_id = await vi.waitFor(firstDelivery, 30_000);
  second = await createOrganization("Second organization");
});

test("has a request for every method", () => {
  expect(Object.keys(requests).toSorted()).toEqual(
    methods
      .map(({ name }) => name)
      .filter((name) => name !== open)
      .toSorted(),
  );
  for (const [what, value] of Object.entries(owned)) expect(value, what).not.toBe("");
});

describe.each(methods.filter(({ name }) => name !== open).map((method) => [method.name, method] as const))(
  "%s",
  (name, method) => {
    const { fields, shown } = requests[name] ?? { fields: () => ({}), shown: "its own" };
    const needed = getOption(method, scope);

    test("rejects a missing and an invalid key", async () => {
      const [, id = ""] = server.apiKey.split("_");
      for (const way of waysOf(server, method)) {
        for (const key of [null, `svc_${id}_${"0".repeat(64)}`, "svc_nobody_0123456789abcdef"]) {
          const result = await way.call(fields(), key);
          expect(result.code, `${way.name} with ${key}`).toBe("unauthenticated");
        }
      }
    });

    test(`requires scope ${needed}`, async () => {
      const held = scopes.indexOf(needed as (typeof scopes)[number]);
      const enough = await createKey(needed);
      const tooLittle = held === 0 ? null : await createKey(scopes[held - 1] ?? "");
      for (const way of waysOf(server, method)) {
        // Unknown ids keep the call from changing data of the organization.
        const harmless = shown === "as unknown" ? withUnknownIds(fields()) : fields();
        expect((await way.call(harmless, enough)).code, `${way.name} with ${needed}`).not.toBe(
          "permission_denied",
        );
        if (tooLittle === null) continue;
        const refusal = await way.call(harmless, tooLittle);
        expect(refusal.code, `${way.name} with less`).toBe("permission_denied");
        expect(refusal.message).toContain(`this key needs scope ${needed}`);
      }
    });

    test("shows another organization no data", async () => {
      for (const way of waysOf(server, method)) {
        const asked = fields();
        const result = await way.call(asked, second);
        if (shown === "as unknown") {
          const other = withUnknownIds(asked);
          const nothing = await way.call(other, second);
          expect(result.code, way.name).not.toBe("ok");
          expect([result.code, anonymous(result.message, asked)], way.name).toEqual([
            nothing.code,
            anonymous(nothing.message, other),
          ]);
        } else {
          expect(result.code, `${way.name}: ${result.message}`).toBe("ok");
        }
        expect(result.text, way.name).not.toMatch(/already_?stored":true/i);
        const named = new Set(Object.values(asked));
        for (const [what, value] of Object.entries(owned)) {
          if (!named.has(value)) expect(result.text, `${what} in ${way.name}`).not.toContain(value);
        }
      }
    });
  },
);

test("leaves the data of the first organization unchanged", async () => {
  const get = (path: string) => ok<Record<string, unknown>>(server, "GET", path);
  expect(await get(`/api/v1/deployments/${owned.deployment_id}`)).toMatchObject({ status: "active" });
  expect(await get(`/api/v1/executions/${owned.execution_id}`)).toMatchObject({
    status: "succeeded",
    output: "secret",
  });
  expect(await get(`/api/v1/schedules/${owned.name}`)).toMatchObject({ paused: false });
  expect(await get("/api/v1/secrets")).toMatchObject({
    secrets: expect.arrayContaining([expect.objectContaining({ name: owned.secret })]),
  });
  const { executions } = await ok<{ executions: unknown[] }>(server, "GET", "/api/v1/executions");
  expect(executions.length).toBe(1);
});

/** Replaces the requested values, which a message may contain. */
function anonymous(message: string, fields: Fields): string {
  return Object.values(fields).reduce<string>(
    (text, value) => (typeof value === "string" && value !== "" ? text.replaceAll(value, "…") : text),
    message,
  );
}

/** A delivery may be stored after its response. */
async function firstDelivery(): Promise<string> {
  const path = "/api/v1/webhooks/deliveries";
  const { deliveries } = await ok<{ deliveries: { delivery_id: string }[] }>(server, "GET", path);
  const [first] = deliveries;
  if (first === undefined) throw new Error("There is no delivery yet.");
  return first.delivery_id;
}

async function createKey(needed: string): Promise<string> {
  const json = { name: `for ${needed}`, scope: needed };
  return (await ok<{ token: string }>(server, "POST", "/api/v1/keys", { json })).token;
}

/** Creates an organization in the data folder of the running server. @returns its first key */
async function createOrganization(name: string): Promise<string> {
  const [program, ...args] = commandOf("node");
  const command = ["admin", "organizations", "create", name, "--data", server.dataDir, "--json"];
  const { stdout } = await promisify(execFile)(program, [...args, join(root, "cli/main.ts"), ...command]);
  return (JSON.parse(stdout) as { token: string }).token;
}
