/** A process that accepts requests and one that runs executions, on one store. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { descendants } from "../../crash/processes.ts";
import { deploy, tryDeploy } from "../../support/project.ts";
import { call, ended, expectError, ok, open, run, runToEnd, watched } from "../../support/rest.ts";
import { onPostgres, TestServer } from "../../support/server.ts";
import type { AcceptedJson, HealthJson } from "../../support/shapes.ts";
import { type SharedStore, sharedStoresOf } from "../../support/shared-store.ts";

const agents = {
  typed: `const validate = (value) =>
  typeof value.n === "number" ? { value } : { issues: [{ message: "must be a number", path: ["n"] }] };
export default { input: { "~standard": { version: 1, vendor: "own", validate } }, run: ({ n }) => n };`,
  where: { code: "export default () => process.ppid;", webhooks: [{ slug: "in" }] },
  waits:
    "export default (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject));",
};

// About the embedded store.
test.skipIf(onPostgres).each(["api", "worker"])(
  "svc serve --role %s is refused without a shared database",
  async (role) => {
    const server = new TestServer("node", { args: ["--role", role] });
    onTestFinished(() => server.discard(false));
    await expect(server.start()).rejects.toThrow(
      `Cannot use the role '${role}' (--role, SVC_ROLE): it needs a database that several processes share; set SVC_DATABASE_URL.`,
    );
  },
);

test("SVC_ROLE must be one of the roles", async () => {
  const server = new TestServer("node", { env: { SVC_ROLE: "server" } });
  onTestFinished(() => server.discard(false));
  await expect(server.start()).rejects.toThrow("it must be one of all, api, worker, not 'server'");
});

describe.each(sharedStoresOf("PostgreSQL"))(
  "an api process and a worker with a store in %s",
  (_name, openShared) => {
    const env = { SVC_API_KEY: "svc_roles_0123456789abcdef" };
    let store: SharedStore;
    let api: TestServer;
    let worker: TestServer;
    let webhook = "";

    beforeAll(async () => {
      store = await openShared();
      api = store.server({ ...env, SVC_ROLE: "api" });
      worker = store.server({ ...env, SVC_ROLE: "worker" });
      await api.start();
      await worker.start();
      const deployment = await deploy(api, { agents });
      webhook = deployment.webhooks[0]?.url ?? "";
    });
    afterAll(async () => {
      await Promise.all([api.kill("SIGKILL"), worker.kill("SIGKILL")]);
      await store.discard();
    });

    test("executions run in the worker, and the api process starts no runners", async () => {
      const answer = await call<AcceptedJson>(api, "POST", webhook, { json: {} });
      expect(answer.status).toBe(202);
      expect((await ended(api, answer.json.execution_id)).output).toBe(worker.pid);
      expect((await runToEnd(api, "where")).output).toBe(worker.pid);
      expect(descendants(api.pid)).toEqual([]);
      const waited = await call(api, "POST", webhook, { json: {}, headers: { prefer: "wait=20" } });
      expect([waited.status, waited.text]).toEqual([200, expect.stringContaining(String(worker.pid))]);
    });

    test("the worker checks the modules of a deployment", async () => {
      const { status, text } = await tryDeploy(api, {
        name: "broken",
        agents: { breaks: "throw new Error('at load');\nexport default () => 1;" },
      });
      expect(status).toBe(400);
      expect(text).toContain("agents/breaks.ts:1: Error: at load");
      expect(descendants(api.pid)).toEqual([]);
    });

    test("the worker checks the inputs of new executions", async () => {
      expect((await runToEnd(api, "typed", { n: 1 })).output).toBe(1);
      const answer = await call(api, "POST", "/api/v1/executions", { json: { name: "typed", input: {} } });
      const message = /^The input violates the schema of 'typed':\ninput\.n: must be a number$/;
      expectError(answer, 400, "invalid_argument", message, "INPUT_INVALID");
      expect(descendants(api.pid)).toEqual([]);
    });

    test("a cancellation reaches the worker", async () => {
      const { execution_id } = await run(api, "waits");
      const events = watched(api, execution_id);
      const response = await open(api, "GET", `/api/v1/executions/${execution_id}/watch`);
      const reader = response.body?.getReader();
      const decoder = new TextDecoder();
      for (let text = ""; !text.includes('"running"'); ) {
        const part = await reader?.read();
        if (part === undefined || part.done) throw new Error("The stream has ended.");
        text += decoder.decode(part.value, { stream: true });
      }
      await ok(api, "POST", `/api/v1/executions/${execution_id}/cancel`);
      expect((await events).at(-1)?.execution?.status).toBe("cancelled");
      await reader?.cancel();
    });

    test("the worker serves its probes only", async () => {
      const get = (path: string) => call({ url: worker.url, apiKey: "" }, "GET", path, { key: null });
      expect((await get("/livez")).status).toBe(200);
      expect((await get("/readyz")).status).toBe(200);
      for (const path of ["/health", "/api/v1/executions", "/console"]) {
        expectError(
          await get(path),
          404,
          "not_found",
          /^This process is a worker: it serves \/livez, \/readyz and \/metrics only\.$/,
        );
      }
    });

    test("the health of the api process names the parts that other processes have", async () => {
      expect(await ok<HealthJson>(api, "GET", "/health")).toMatchObject({
        status: "ok",
        checks: { store: "ok", storage: "ok", executor: "off", scheduler: "off" },
      });
    });

    test("webhooks are accepted without a worker, and run when one starts", async () => {
      await worker.kill("SIGTERM");
      const answer = await call<AcceptedJson>(api, "POST", webhook, { json: {} });
      expect(answer.status).toBe(202);
      await worker.start();
      expect((await ended(api, answer.json.execution_id)).output).toBe(worker.pid);
    });
  },
);
