import { beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { call, ended, expectError, lines, ok, open, run, runToEnd, watched } from "../support/rest.ts";
import type { AcceptedJson, HealthJson, LogLineJson, WatchEvent } from "../support/shapes.ts";
import { onRuntime } from "../support/suite.ts";

const agents = {
  counts: {
    code: `export default ({ from = 0, to }) => {
  for (let number = from; number < to; number++) console.log("line " + number);
};`,
    webhooks: [{ slug: "hook" }],
  },
  steps: `export default async () => {
  console.log("begun");
  await new Promise((resolve) => setTimeout(resolve, 150));
  console.log("done");
};`,
  retries: {
    code: "export default (_, { attempt }) => { console.log('try ' + attempt); if (attempt < 2) throw new Error('x'); };",
    enable_retry: true,
    retry_policy: { strategy: "fixed", initial_delay: 0.05 },
  },
};

onRuntime("deno", "streams", {}, (server) => {
  beforeAll(async () => {
    await deploy(server, { agents });
    await deploy(server, { agents }, { environment: "staging" });
  });

  const tail = async (query: string) => {
    const response = await open(server, "GET", `/api/v1/logs?${query}`);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    return (await Array.fromAsync(lines<{ log: LogLineJson }>(response))).map(({ log }) => log);
  };

  describe("watching an execution", () => {
    test("sends the state, then log entries and states as they are written, and ends with the execution", async () => {
      const { execution_id } = await run(server, "steps");
      const response = await open(server, "GET", `/api/v1/executions/${execution_id}/watch`);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("application/x-ndjson");
      const events = await Array.fromAsync(lines<WatchEvent>(response));
      const sent = events.map(({ execution, log }) => execution?.status ?? log?.message);
      expect(["queued", "running"]).toContain(sent[0]);
      expect(sent.filter((state) => state !== "queued")).toEqual(["running", "begun", "done", "succeeded"]);
    });

    test("sends the final state and the whole log of an ended execution, and resumes after a cursor", async () => {
      const { execution_id } = await runToEnd(server, "counts", { to: 3 });
      const events = await watched(server, execution_id);
      expect(events.map(({ execution, log }) => execution?.status ?? log?.message)).toEqual([
        "succeeded",
        "line 0",
        "line 1",
        "line 2",
      ]);
      const after = events[2]?.log?.cursor;
      const response = await open(server, "GET", `/api/v1/executions/${execution_id}/watch?after=${after}`);
      const rest = await Array.fromAsync(lines<WatchEvent>(response));
      expect(rest.map(({ log }) => log?.message)).toEqual([undefined, "line 2"]);
    });

    test("sends the log of each attempt", async () => {
      const { execution_id } = await run(server, "retries");
      const events = await watched(server, execution_id);
      expect(events.flatMap(({ log }) => log?.message ?? [])).toEqual([
        "try 1",
        expect.stringContaining("Attempt 1 failed: Error: x."),
        "try 2",
      ]);
      expect(events.at(-1)?.execution).toMatchObject({ status: "succeeded", attempt: 2 });
    });

    test("rejects an unknown execution and an invalid cursor before the stream starts", async () => {
      const unknown = await call(server, "GET", `/api/v1/executions/exe_${"0".repeat(26)}/watch`);
      expectError(unknown, 404, "not_found", /no execution/);
      const { execution_id } = await run(server, "counts", { to: 0 });
      const bad = await call(server, "GET", `/api/v1/executions/${execution_id}/watch?after=x`);
      expectError(bad, 400, "invalid_argument", /cursor/);
    });

    test("survives clients that disconnect at any time", async () => {
      const { execution_id } = await run(server, "steps");
      for (let times = 0; times < 5; times++) {
        const abort = new AbortController();
        const path = `/api/v1/executions/${execution_id}/watch`;
        await open(server, "GET", path, { signal: abort.signal });
        abort.abort();
      }
      expect((await ended(server, execution_id)).status).toBe("succeeded");
    });
  });

  describe("the log", () => {
    test("holds no entry for an accepted webhook, and accepts a cursor of version 0.1", async () => {
      const [before] = await tail("lines=1");
      const { organization } = await ok<HealthJson>(server, "GET", "/health");
      const { json } = await call<AcceptedJson>(
        server,
        "POST",
        `/webhook/${organization}/agent/counts/hook`,
        {
          key: null,
          json: { to: 1 },
        },
      );
      await ended(server, json.execution_id);
      const old = `${before?.cursor}.${"0".repeat(26)}`;
      const after = await tail(`after=${old}`);
      expect(after.map(({ source, message }) => `${source} ${message}`)).toEqual(["console line 0"]);
    });

    test("returns the requested number of last entries, oldest first", async () => {
      const { execution_id } = await runToEnd(server, "counts", { to: 150 });
      const of = `execution_id=${execution_id}`;
      const numbers = async (query: string) => (await tail(query)).map(({ message }) => message);
      const named = (from: number, to: number) =>
        Array.from({ length: to - from }, (_, index) => `line ${from + index}`);
      expect(await numbers(of)).toEqual(named(50, 150));
      expect(await numbers(`${of}&lines=3`)).toEqual(named(147, 150));
      expect(await numbers(`${of}&lines=0`)).toEqual([]);
      expect(await numbers(`${of}&lines=10000`)).toEqual(named(0, 150));
      expectError(await call(server, "GET", "/api/v1/logs?lines=10001"), 400, "invalid_argument", /10000/);
    });

    test("returns an entry's cursor, time, source and execution", async () => {
      const execution = await runToEnd(server, "counts", { to: 1 });
      const [line] = await tail(`execution_id=${execution.execution_id}`);
      expect(line).toEqual({
        cursor: expect.stringMatching(/^\d+$/),
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        level: "info",
        source: "console",
        message: "line 0",
        execution_id: execution.execution_id,
        deployment_id: execution.deployment_id,
        name: "counts",
        environment: "production",
      });
    });

    test("filters by name and environment", async () => {
      await call(server, "POST", "/env/staging/api/v1/executions", {
        json: { name: "counts", input: { to: 1 } },
      });
      const staged = (await tail("name=steps&lines=10000")).map(({ name }) => name);
      expect(new Set(staged)).toEqual(new Set(["steps"]));
      const inStaging = await tail("environment=staging&lines=10000");
      expect(new Set(inStaging.map(({ environment }) => environment))).toEqual(new Set(["staging"]));
      expect(inStaging.map(({ source }) => source)).toContain("deployment");
    });

    test("responds before there is an entry to send", async () => {
      const response = await open(server, "GET", "/env/quiet/api/v1/logs?follow=true&lines=0");
      expect(response.status).toBe(200);
      await response.body?.cancel();
    });

    test("is followed without gaps and duplicates, across reconnects", async () => {
      const of = "name=counts&environment=production";
      const [last] = await tail("lines=1");
      const total = 1000;
      const got: LogLineJson[] = [];
      const running = Promise.all(
        Array.from({ length: 10 }, (_, part) =>
          runToEnd(server, "counts", { from: part * 100, to: part * 100 + 100 }),
        ),
      );
      // Disconnects and resumes after the last received entry, as a client with a broken connection does.
      for (let connection = 0; got.length < total; connection++) {
        const after = got.at(-1)?.cursor ?? last?.cursor;
        const abort = new AbortController();
        const response = await open(server, "GET", `/api/v1/logs?${of}&follow=true&after=${after}`, {
          signal: abort.signal,
        });
        let here = 0;
        for await (const { log } of lines<{ log: LogLineJson }>(response)) {
          got.push(log);
          if (got.length === total || ++here === 150 + connection) break;
        }
        abort.abort();
      }
      await running;
      const all = await tail(`${of}&after=${last?.cursor}`);
      expect(got).toEqual(all);
      expect(new Set(got.map(({ message }) => message)).size).toBe(total);
      const byExecution = Map.groupBy(got, ({ execution_id }) => execution_id);
      for (const own of byExecution.values()) {
        const numbers = own.map(({ message }) => Number(message.slice("line ".length)));
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      }
    });
  });
});
