/** Two complete servers on one store, with both engines. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { leaseMs } from "../../../server/executions/executor/leases.ts";
import type { Engine } from "../../../server/store/engine.ts";
import { all, run as statement } from "../../../server/store/engine.ts";
import { deploy } from "../../support/project.ts";
import { call, ended, lines, ok, open, run, runToEnd } from "../../support/rest.ts";
import type { TestServer } from "../../support/server.ts";
import type { AcceptedJson, ExecutionJson, LogLineJson, WatchEvent } from "../../support/shapes.ts";
import { type SharedStore, sharedStoresOf } from "../../support/shared-store.ts";

/** Each prints or returns the process id of the server that runs it. `stuckOn` is the id of a server that never finishes it. */
const agents = {
  where: {
    code: `export default async ({ ms = 0, lines = 0, stuckOn = 0 }) => {
  for (let line = 1; line <= lines; line++) {
    console.log("line " + line);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await new Promise((resolve) => setTimeout(resolve, process.ppid === stuckOn ? 300_000 : ms));
  return { pid: process.ppid };
};`,
    webhooks: [{ slug: "in" }],
  },
  keeps: `import { readFileSync, writeFileSync } from "node:fs";
export default async () => {
  const file = process.env.TMPDIR + "/kept";
  writeFileSync(file, "kept");
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  return { pid: process.ppid, text: readFileSync(file, "utf8") };
};`,
  waits: {
    code: `export default async (_, { signal }) => {
  console.log("pid " + process.ppid);
  await new Promise((resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
};`,
  },
};

/** Of `waitFor`. */
const patience = { timeout: 30_000, interval: 50 };

const scheduled = Array.from({ length: 20 }, (_, number) => `tick-${number}`);

describe.each(sharedStoresOf("a data folder"))("two servers on one store in %s", (_name, openShared) => {
  const limits = {
    SVC_API_KEY: "svc_shared_0123456789abcdef",
    SVC_CONCURRENCY: "4",
    SVC_RUNNERS_PER_DEPLOYMENT: "1",
    SVC_WEBHOOK_RATE: "10000",
    SVC_WEBHOOK_BURST: "10000",
    SVC_ORGANIZATION_RATE: "10000",
    SVC_ORGANIZATION_BURST: "10000",
  };
  let store: SharedStore;
  let engine: Engine;
  let a: TestServer;
  let b: TestServer;

  beforeAll(async () => {
    store = await openShared();
    a = store.server(limits);
    b = store.server(limits);
    // At once: both migrate the store and create the first organization.
    await Promise.all([a.start(), b.start()]);
    engine = await store.open();
    await deploy(a, { agents });
  });
  afterAll(async () => {
    await Promise.all([a.kill("SIGKILL"), b.kill("SIGKILL")]);
    await engine.close();
    await store.discard();
  });

  const rows = <R extends object>(sql: string, ...params: string[]) =>
    engine.read(() => all<R>(sql, ...params));
  const other = (server: TestServer) => (server === a ? b : a);
  const serverOf = (pid: number) => (pid === a.pid ? a : b);

  test("creates one organization with one key", async () => {
    expect(await rows("SELECT org_id FROM organizations")).toHaveLength(1);
    expect(await rows("SELECT key_id FROM api_keys")).toHaveLength(1);
  });

  test("webhooks that one server accepts run on both, each once", async () => {
    const [{ org_id = "" } = {}] = await rows<{ org_id: string }>("SELECT org_id FROM organizations");
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, number) =>
        call<AcceptedJson>(number % 2 === 0 ? a : b, "POST", `/webhook/${org_id}/agent/where/in`, {
          json: { ms: 40 },
          headers: { "idempotency-key": `delivery-${number % 50}` },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    const ids = new Set(answers.map(({ json }) => json.execution_id));
    expect(ids.size).toBe(50);
    const results = await Promise.all([...ids].map((id) => ended(b, id)));
    expect(results.map(({ status, attempt }) => [status, attempt])).toEqual(
      results.map(() => ["succeeded", 1]),
    );
    const pids = new Set(results.map(({ output }) => (output as { pid: number }).pid));
    expect(pids).toEqual(new Set([a.pid, b.pid]));
  });

  test("a deployment of one server is live on the other", async () => {
    const [{ org_id = "" } = {}] = await rows<{ org_id: string }>("SELECT org_id FROM organizations");
    const post = () =>
      call<AcceptedJson>(b, "POST", `/env/other/webhook/${org_id}/agent/answers/in`, { json: {} });
    const answer = (text: string) => ({
      name: "other",
      agents: { answers: { code: `export default () => "${text}";`, webhooks: [{ slug: "in" }] } },
    });
    for (const text of ["first", "second"]) {
      const { deployment_id } = await deploy(a, answer(text), { environment: "other" });
      const id = await vi.waitFor(
        async () => {
          const { json } = await post();
          const [row] = await rows<{ deployment_id: string }>(
            "SELECT deployment_id FROM executions WHERE execution_id = ?1",
            json.execution_id,
          );
          expect(row?.deployment_id).toBe(deployment_id);
          return json.execution_id;
        },
        { timeout: 1_000, interval: 20 },
      );
      expect((await ended(a, id)).output).toBe(text);
    }
  });

  test("a key that one server revokes is refused by the other, and its streams end", async () => {
    const { key, token } = await ok<{ key: { key_id: string }; token: string }>(a, "POST", "/api/v1/keys", {
      json: { name: "revoked" },
    });
    const holder = { url: b.url, apiKey: token };
    const { execution_id } = await run(a, "waits");
    const stream = await open(holder, "GET", `/api/v1/executions/${execution_id}/watch`);
    expect(stream.status).toBe(200);
    const drained = Array.fromAsync(lines<{ error?: unknown }>(stream)).catch(() => null);
    await ok(a, "DELETE", `/api/v1/keys/${key.key_id}`);
    expect((await call(holder, "GET", "/api/v1/executions")).status).toBe(401);
    await drained;
    await ok(b, "POST", `/api/v1/executions/${execution_id}/cancel`);
    expect((await ended(b, execution_id)).status).toBe("cancelled");
  });

  test("each server cancels executions that run on the other", async () => {
    const executions = await Promise.all(Array.from({ length: 6 }, () => run(a, "waits")));
    const runsOn = await vi.waitFor(async () => {
      const found = await rows<{ execution_id: string; message: string }>(
        "SELECT execution_id, message FROM logs WHERE message LIKE 'pid %' ORDER BY seq DESC LIMIT 6",
      );
      const pids = new Map(found.map((row) => [row.execution_id, Number(row.message.slice(4))]));
      expect(executions.every(({ execution_id }) => pids.has(execution_id))).toBe(true);
      return pids;
    }, patience);
    expect(new Set(runsOn.values()).size).toBe(2);
    await Promise.all(
      executions.map(async ({ execution_id }) => {
        const server = other(serverOf(runsOn.get(execution_id) ?? 0));
        await ok(server, "POST", `/api/v1/executions/${execution_id}/cancel`);
        expect((await ended(server, execution_id)).status).toBe("cancelled");
      }),
    );
  });

  test("each server follows executions and logs of both, complete and in order", async () => {
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const followed = [a, b].map(async (server) => {
      const entries: LogLineJson[] = [];
      // With earlier entries, because the executions may start before the stream does.
      const response = await open(server, "GET", "/api/v1/logs?follow=true&lines=1000&name=where", {
        signal: stop.signal,
      });
      for await (const { log } of lines<{ log: LogLineJson }>(response)) {
        if (log.message.startsWith("line ")) entries.push(log);
        if (entries.length === 12 * 20) break;
      }
      return entries;
    });
    const executions = await Promise.all(
      Array.from({ length: 12 }, (_, number) => run(number % 2 === 0 ? a : b, "where", { lines: 20 })),
    );
    const expected = Array.from({ length: 20 }, (_, line) => `line ${line + 1}`);
    await Promise.all(
      executions.map(async ({ execution_id }, number) => {
        const response = await open(
          number % 2 === 0 ? b : a,
          "GET",
          `/api/v1/executions/${execution_id}/watch`,
        );
        const events = await Array.fromAsync(lines<WatchEvent>(response));
        expect(events.flatMap(({ log }) => log?.message ?? [])).toEqual(expected);
        expect(events.at(-1)?.execution?.status ?? events[0]?.execution?.status).toBe("succeeded");
      }),
    );
    const [atA = [], atB = []] = await Promise.all(followed);
    expect(atA).toEqual(atB);
    for (const { execution_id } of executions) {
      const own = atA.filter((entry) => entry.execution_id === execution_id);
      expect(own.map(({ message }) => message)).toEqual(expected);
    }
  });

  test("each schedule tick runs once", async () => {
    const names = Object.fromEntries(scheduled.map((name) => [name, "export default () => 1;"]));
    await deploy(a, {
      name: "scheduled",
      agents: names,
      schedules: {
        agents: Object.fromEntries(scheduled.map((name) => [name, { cron: "* * * * *", catch_up: 600 }])),
      },
    });
    const dueMs = Math.floor(Date.now() / 60_000 - 1) * 60_000;
    await engine.write(() =>
      statement("UPDATE schedules SET next_due_at = ?1 WHERE project = 'scheduled'", dueMs),
    );
    await vi.waitFor(async () => {
      const runs = await rows<{ name: string; count: number }>(
        "SELECT name, COUNT(*) AS count FROM executions WHERE origin = 'schedule' GROUP BY name",
      );
      expect(runs.length).toBe(scheduled.length);
    }, patience);
    const ticks = await rows<{ runs: number; executions: number }>(
      `SELECT COUNT(*) AS runs, COUNT(DISTINCT t.execution_id) AS executions FROM ticks t WHERE outcome = 'run'`,
    );
    const executions = await rows("SELECT execution_id FROM executions WHERE origin = 'schedule'");
    expect(ticks[0]).toEqual({ runs: executions.length, executions: executions.length });
  });

  test("a server that starts leaves the running executions of others and their scratch folders alone", async () => {
    const { execution_id } = await run(a, "keeps");
    await vi.waitFor(async () => {
      const { status } = await ok<ExecutionJson>(a, "GET", `/api/v1/executions/${execution_id}`);
      expect(status).toBe("running");
    }, patience);
    const c = store.server(limits);
    onTestFinished(async () => {
      await c.kill("SIGTERM");
    });
    await c.start();
    const { status, output } = await ended(c, execution_id);
    expect(status).toBe("succeeded");
    expect([a.pid, b.pid]).toContain((output as { pid: number }).pid);
    expect(output).toMatchObject({ text: "kept" });
    const [row] = await rows("SELECT attempt, losses FROM executions WHERE execution_id = ?1", execution_id);
    expect(row).toEqual({ attempt: 1, losses: 0 });
  });

  test(
    "when one server is killed, the other runs its executions",
    async () => {
      const input = { ms: 1_500, stuckOn: a.pid };
      const executions = await Promise.all(Array.from({ length: 6 }, () => run(a, "where", input)));
      await vi.waitFor(async () => {
        const [row] = await rows<{ count: number }>(
          "SELECT COUNT(DISTINCT lease_owner) AS count FROM executions WHERE status = 'running'",
        );
        expect(row?.count).toBe(2);
      }, patience);
      const killed = a.pid;
      await a.kill("SIGKILL");
      const results = await Promise.all(executions.map(({ execution_id }) => ended(b, execution_id)));
      expect(results.map(({ status, attempt }) => [status, attempt])).toEqual(
        results.map(() => ["succeeded", 1]),
      );
      expect(results.some(({ output }) => (output as { pid: number }).pid === killed)).toBe(false);
      const lost = await rows("SELECT execution_id FROM executions WHERE losses > 0");
      expect(lost.length).toBeGreaterThan(0);
      await a.start();
      expect((await runToEnd(a, "where")).status).toBe("succeeded");
    },
    leaseMs + 30_000,
  );

  test("log entries are numbered without gaps", async () => {
    const numbers = (await rows<{ seq: number }>("SELECT seq FROM logs ORDER BY seq")).map(({ seq }) => seq);
    expect(numbers.length).toBeGreaterThan(240);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });
});
