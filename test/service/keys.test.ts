import { beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { call, ended, expectError, ok, run, runToEnd } from "../support/rest.ts";
import type { ExecutionJson } from "../support/shapes.ts";
import { onRuntime } from "../support/suite.ts";

interface KeyJson {
  key_id: string;
  name: string;
  scope: string;
  created_at: string;
  last_used_at?: string;
  expires_at?: string;
  revoked_at?: string;
  current: boolean;
}

const agents = {
  // As arrays of characters, because outputs are redacted.
  tells:
    "export default (_, ctx) => Object.fromEntries(Object.entries(ctx.secrets).map(([name, value]) => [name, [...value]]));",
  echo: "export default (input) => input;",
  fails: "export default () => { throw new Error('always'); };",
  waits: `export default (_, { signal }) => new Promise((resolve) => {
  console.log("waiting");
  signal.addEventListener("abort", () => resolve("let go"));
});`,
};

onRuntime("deno", "keys, secrets and executions", {}, (server) => {
  beforeAll(async () => {
    await deploy(server, { agents });
  });

  const createKey = (json: object) =>
    call<{ key: KeyJson; token: string }>(server, "POST", "/api/v1/keys", { json });
  const as = (key: string) => call(server, "GET", "/api/v1/organization", { key });

  describe("API keys", () => {
    test("work until they are revoked, and are shown once", async () => {
      const { status, json } = await createKey({ name: "ci", scope: "deploy" });
      expect(status).toBe(200);
      expect(json.token).toMatch(/^svc_[0-9a-z]+_[0-9a-f]{64}$/);
      expect(json.key).toMatchObject({
        name: "ci",
        scope: "deploy",
        key_id: expect.stringMatching(/^key_/),
      });
      expect((await as(json.token)).status).toBe(200);
      const list = await call<{ keys: KeyJson[] }>(server, "GET", "/api/v1/keys");
      expect(list.json.keys[0]).toMatchObject({ key_id: json.key.key_id, name: "ci" });
      expect(list.text).not.toContain(json.token.split("_")[2]);
      const revoked = await ok<KeyJson>(server, "DELETE", `/api/v1/keys/${json.key.key_id}`);
      expect(Date.parse(revoked.revoked_at ?? "")).toBeLessThanOrEqual(Date.now());
      expectError(await as(json.token), 401, "unauthenticated", /unknown, revoked or expired/);
      expect((await as(server.apiKey)).status).toBe(200);
    });

    test("the list marks the key that sent the request", async () => {
      const { json } = await createKey({ name: "other" });
      const currentOf = async (key: string): Promise<string[]> => {
        const list = await call<{ keys: KeyJson[] }>(server, "GET", "/api/v1/keys", { key });
        return list.json.keys.filter(({ current }) => current).map(({ key_id }) => key_id);
      };
      expect(await currentOf(json.token)).toEqual([json.key.key_id]);
      const own = await currentOf(server.apiKey);
      expect(own).toHaveLength(1);
      expect(own).not.toContain(json.key.key_id);
    });

    test("stop working when they expire", async () => {
      const expires_at = new Date(Date.now() + 400).toISOString();
      const { json } = await createKey({ name: "short", expires_at });
      expect(json.key.scope).toBe("full");
      expect((await as(json.token)).status).toBe(200);
      await expect.poll(async () => (await as(json.token)).status, { interval: 50 }).toBe(401);
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires_at));
    });

    test("are not created with an unknown scope, an expiry in the past or an invalid name", async () => {
      for (const json of [
        { name: "x", scope: "admin" },
        { name: "x", expires_at: "2020-01-01T00:00:00Z" },
        { name: "" },
        { name: "x".repeat(101) },
      ]) {
        expectError(await createKey(json), 400, "invalid_argument", /./);
      }
    });
  });

  describe("secrets", () => {
    const put = (name: string, value: string) =>
      call(server, "PUT", `/api/v1/secrets/${name}`, { json: { value } });

    test("are passed to agents in their current version and never returned by the API", async () => {
      const value = "planted-secret-äöü-\u{1f511}";
      expect((await put("TOKEN", value)).status).toBe(200);
      expect((await runToEnd(server, "tells")).output).toEqual({ TOKEN: [...value] });
      await put("TOKEN", "another");
      expect((await runToEnd(server, "tells")).output).toEqual({ TOKEN: [..."another"] });
      const list = await call(server, "GET", "/api/v1/secrets");
      expect(list.json).toMatchObject({ secrets: [{ name: "TOKEN" }] });
      expect(list.text).not.toContain("another");
      await server.restart();
      expect((await runToEnd(server, "tells")).output).toEqual({ TOKEN: [..."another"] });
      expect((await call(server, "DELETE", "/api/v1/secrets/TOKEN")).status).toBe(200);
      expect((await runToEnd(server, "tells")).output).toEqual({});
      expectError(await call(server, "DELETE", "/api/v1/secrets/TOKEN"), 404, "not_found", /TOKEN/);
    });

    test("are rejected with an invalid name or value", async () => {
      for (const [name, value] of [
        ["a%20b", "x"],
        ["-a", "x"],
        ["x".repeat(65), "x"],
        ["EMPTY", ""],
        ["LARGE", "x".repeat(65_537)],
      ] as const) {
        expectError(await put(name, value), 400, "invalid_argument", /./);
      }
      expect((await put("LARGEST", "x".repeat(65_536))).status).toBe(200);
      await call(server, "DELETE", "/api/v1/secrets/LARGEST");
    });
  });

  describe("executions", () => {
    const act = (id: string, verb: string, json: object = {}) =>
      call<ExecutionJson>(server, "POST", `/api/v1/executions/${id}/${verb}`, { json });

    test("are cancelled while they run", async () => {
      const { execution_id } = await run(server, "waits");
      await act(execution_id, "cancel");
      const execution = await ended(server, execution_id);
      expect(execution).toMatchObject({ status: "cancelled" });
      expect(execution.output).toBeUndefined();
      const again = await act(execution_id, "cancel");
      expect([200, 400, 409]).toContain(again.status);
      expect(await ended(server, execution_id)).toEqual(execution);
    });

    test("are not changed by a cancellation after they ended", async () => {
      const execution = await runToEnd(server, "echo", { a: 1 });
      await act(execution.execution_id, "cancel");
      expect(await ended(server, execution.execution_id)).toEqual(execution);
    });

    test("are replayed with the same or another input, on the active or a named deployment", async () => {
      const first = await runToEnd(server, "echo", { a: 1 });
      const same = await act(first.execution_id, "replay");
      expect(same.json).toMatchObject({ trigger: "replay", input: { a: 1 }, status: "queued" });
      expect((await ended(server, same.json.execution_id)).output).toEqual({ a: 1 });
      const other = await act(first.execution_id, "replay", { input: { b: 2 } });
      expect((await ended(server, other.json.execution_id)).output).toEqual({ b: 2 });
      const next = await deploy(server, { agents: { ...agents, echo: "export default () => 'new';" } });
      const current = await act(first.execution_id, "replay");
      expect(await ended(server, current.json.execution_id)).toMatchObject({
        output: "new",
        deployment_id: next.deployment_id,
      });
      const old = await act(first.execution_id, "replay", { deployment_id: first.deployment_id });
      expect(await ended(server, old.json.execution_id)).toMatchObject({
        output: { a: 1 },
        deployment_id: first.deployment_id,
      });
      expect(
        (await act(first.execution_id, "replay", { deployment_id: `dep_${"0".repeat(26)}` })).status,
      ).toBe(404);
    });
  });
});
