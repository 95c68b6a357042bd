import { beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../../support/project.ts";
import { exchange, head } from "../../support/raw.ts";
import { call, ended, lines, ok, open, run, runToEnd } from "../../support/rest.ts";
import { commandRuntimes } from "../../support/runtimes.ts";
import { onPostgres, TestServer } from "../../support/server.ts";
import type {
  AcceptedJson,
  ExecutionPage,
  HealthJson,
  LogLineJson,
  WatchEvent,
} from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

const rounds = Number(process.env.CRASH_ROUNDS ?? 2);

const agents = {
  echo: { code: "export default (input) => input;", webhooks: [{ slug: "hook" }] },
  spins: "export default ({ until }) => { console.log('pid ' + process.pid); while (Date.now() < until); };",
  takes: `export default async ({ ms }) => {
  console.log("begun");
  await new Promise((resolve) => setTimeout(resolve, ms));
  return "whole";
};`,
};

/** Rate limits that the load does not reach. */
const env = { SVC_WEBHOOK_BURST: "10000", SVC_ORGANIZATION_BURST: "10000" };

onRuntime("bun", "durability", { env }, (server) => {
  let org = "";
  beforeAll(async () => {
    await deploy(server, { agents });
    org = (await ok<HealthJson>(server, "GET", "/health")).organization;
  });

  const post = (json: unknown) =>
    call<AcceptedJson>(server, "POST", `/webhook/${org}/agent/echo/hook`, { key: null, json });

  /** Resolves with the first log entry of an execution that matches. */
  const logged = async (executionId: string, pattern: RegExp): Promise<RegExpExecArray> => {
    const response = await open(server, "GET", `/api/v1/executions/${executionId}/watch`);
    for await (const { log } of lines<WatchEvent>(response)) {
      const match = pattern.exec(log?.message ?? "");
      if (match !== null) return match;
    }
    throw new Error(`The execution ended without printing ${pattern}.`);
  };

  const timeout = 60_000 + rounds * 10_000;
  test(`runs an execution after kill -9 right after its 202, ${rounds} times`, { timeout }, async () => {
    for (let round = 0; round < rounds; round++) {
      const { status, json } = await post({ round });
      expect(status).toBe(202);
      await server.restart("SIGKILL");
      const execution = await ended(server, json.execution_id);
      expect(execution).toMatchObject({ status: "succeeded", attempt: 1, output: { round } });
    }
  });

  test("has one finished execution for each 202 after kill -9 under load", async () => {
    const since = new Date().toISOString();
    const accepted = new Set<string>();
    const unanswered = new Set<number>();
    let number = 0;
    const sender = async () => {
      for (;;) {
        const mine = number++;
        unanswered.add(mine);
        const { json } = await post({ mine });
        unanswered.delete(mine);
        accepted.add(json.execution_id);
        if (accepted.size === 150) void server.kill("SIGKILL");
      }
    };
    await Promise.allSettled(Array.from({ length: 16 }, sender));
    await server.start();
    for (const id of accepted) {
      const execution = await ended(server, id);
      expect(execution.status).toBe("succeeded");
      expect(execution.output).toEqual(execution.input);
    }
    const { executions } = await ok<ExecutionPage>(
      server,
      "GET",
      `/api/v1/executions?page_size=1000&view=full&since=${encodeURIComponent(since)}`,
    );
    // An execution whose request got no response may exist, because it was written before the kill.
    const extra = executions.filter(({ execution_id }) => !accepted.has(execution_id));
    for (const { input } of extra) expect(unanswered).toContain((input as { mine: number }).mine);
    expect(executions.length - extra.length).toBe(accepted.size);
    const sent = executions.map(({ input }) => (input as { mine: number }).mine);
    expect(new Set(sent).size).toBe(sent.length);
  });

  test("keeps deployments and logs over a restart", async () => {
    const before = await ok(server, "GET", "/api/v1/deployments");
    const log = async () => {
      const response = await open(server, "GET", "/api/v1/logs?lines=10000");
      return Array.fromAsync(lines<{ log: LogLineJson }>(response));
    };
    const { execution_id } = await run(server, "takes", { ms: 0 });
    await logged(execution_id, /begun/);
    await ended(server, execution_id);
    const linesBefore = await log();
    expect(linesBefore).toContainEqual(
      expect.objectContaining({ log: expect.objectContaining({ execution_id, message: "begun" }) }),
    );
    await server.restart("SIGTERM");
    expect(await ok(server, "GET", "/api/v1/deployments")).toEqual(
      JSON.parse(JSON.stringify(before).replaceAll(/http:..127.0.0.1:\d+/g, server.url)),
    );
    expect((await log()).slice(0, linesBefore.length)).toEqual(linesBefore);
  });

  test("runners exit when their server is killed, even while they block", async () => {
    const until = Date.now() + 8_000;
    const { execution_id } = await run(server, "spins", { until });
    const [, pid = ""] = await logged(execution_id, /^pid (\d+)$/);
    const lives = () => {
      try {
        return process.kill(Number(pid), 0);
      } catch {
        return false;
      }
    };
    expect(lives()).toBe(true);
    await server.kill("SIGKILL");
    await expect.poll(lives, { interval: 20, timeout: until - Date.now() - 2_000 }).toBe(false);
    await server.start();
    await ok(server, "POST", `/api/v1/executions/${execution_id}/cancel`, { json: {} });
    expect((await ended(server, execution_id)).status).toBe("cancelled");
  });

  test("finishes running executions, ends streams and exits with 0 on SIGTERM", async () => {
    const { execution_id } = await run(server, "takes", { ms: 700 });
    await logged(execution_id, /begun/);
    const follower = await open(server, "GET", "/api/v1/logs?follow=true&lines=1");
    const followed = Array.fromAsync(lines(follower));
    const stopping = server.printed(/SIGTERM: waiting for running executions/, server.output.length);
    const exit = server.kill("SIGTERM");
    await stopping;
    await expect(exchange(server, head("GET /livez"))).rejects.toThrow();
    expect(await exit).toEqual({ code: 0, signal: null });
    await followed;
    await server.start();
    expect(await ended(server, execution_id)).toMatchObject({
      status: "succeeded",
      output: "whole",
      attempt: 1,
    });
  });

  test("exits immediately on a repeated signal, and reruns the interrupted execution", async () => {
    const { execution_id } = await run(server, "takes", { ms: 1500 });
    await logged(execution_id, /begun/);
    const stopping = server.printed(/SIGTERM: waiting for running executions/, server.output.length);
    const first = server.kill("SIGTERM");
    await stopping;
    await server.kill("SIGTERM");
    expect((await first).code).toBe(130);
    await server.start();
    expect(await ended(server, execution_id)).toMatchObject({
      status: "succeeded",
      output: "whole",
      attempt: 1,
    });
  });

  // About the embedded store.
  test.skipIf(onPostgres)("rejects another server on its data folder", async () => {
    const second = new TestServer(server.runtime, { dataDir: server.dataDir });
    await expect(second.start()).rejects.toThrow(/Cannot use the data folder .*: another server uses it/);
    expect((await runToEnd(server, "echo", { still: "here" })).output).toEqual({ still: "here" });
  });
});

describe.each(commandRuntimes("deno"))("the first start on %s", (runtime) => {
  test("registers SVC_API_KEY and prints no key", async () => {
    const key = "svc_operator_0123456789abcdef";
    const server = new TestServer(runtime, { env: { SVC_API_KEY: key } });
    await server.start();
    expect((await ok<HealthJson>(server, "GET", "/health")).status).toBe("ok");
    expect(server.output).not.toContain("svc_");
    await server.restart();
    expect((await ok<HealthJson>(server, "GET", "/health")).status).toBe("ok");
    await server.discard(false);
  });

  test("rejects a malformed key or limit with one line", async () => {
    for (const [env, message] of [
      [{ SVC_API_KEY: "secret" }, /Cannot register SVC_API_KEY: a key has the form svc_<id>_<secret>/],
      [{ SVC_CONCURRENCY: "many" }, /Cannot use SVC_CONCURRENCY: .* not 'many'/],
    ] as const) {
      const server = new TestServer(runtime, { env });
      await expect(server.start()).rejects.toThrow(message);
      expect(server.output).not.toMatch(/^\s+at /m);
      await server.discard(false);
    }
  });
});
