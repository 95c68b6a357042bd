/** The cases of the client, which run inside each runtime against a server. */
import assert from "node:assert/strict";
import { type Client, createClient, isSvcError, type SvcError } from "../../client/index.ts";
import { ExecutionService } from "../../proto/svc/v1/execution_pb.ts";

import type { ProjectSource } from "../support/project.ts";

export interface Input {
  url: string;
  apiKey: string;
  /** URL of the webhook `hook` of the agent `echo`. */
  hookUrl: string;
}

export interface Case {
  name: string;
  run(client: Client, input: Input): Promise<void>;
}

/** The agents that the cases use. */
export const agents: NonNullable<ProjectSource["agents"]> = {
  echo: {
    code: "export default (input) => { console.log('echo'); if (input.fail) throw new TypeError('no title'); return input; };",
    webhooks: [{ slug: "hook" }],
  },
  responds: {
    code: "export default (input, ctx) => { ctx.respond({ status: input.status ?? 200, body: input.body ?? 'text' }); };",
    webhooks: [{ slug: "custom", respond: "output" }],
  },
  slow: `export default (_, ctx) => new Promise((resolve) => {
    if (ctx.signal.aborted) resolve();
    else ctx.signal.addEventListener("abort", resolve);
  });`,
  prints: "export default () => { for (let n = 0; n < 5; n++) console.log('line ' + n); return null; };",
};

export const cases: readonly Case[] = [
  {
    name: "runs an agent and returns its output",
    async run(client) {
      const input = { text: "ä😀", list: [1, null, { deep: [[true]] }], ["__proto__"]: 1.5, big: 2 ** 40 };
      assert.deepEqual(await client.run("echo", input), input);
      assert.equal(await client.run("prints"), null);
    },
  },
  {
    name: "throws the error of a failed execution with its id",
    async run(client) {
      const error = await failure(client.run("echo", { fail: true }));
      assert.equal(error.reason, "EXECUTION_FAILED");
      assert.equal(error.code, "internal");
      assert.match(error.message, /echo failed: TypeError: no title/);
      assert.match(error.executionId ?? "", /^exe_/);
      assert.equal(error.execution?.error?.name, "TypeError");
      assert.equal((await client.get(error.executionId ?? "")).status, "failed");
    },
  },
  {
    name: "throws errors of the server with their code",
    async run(client, { url, apiKey }) {
      const unknown = await failure(client.run("missing", {}));
      assert.deepEqual([unknown.code, unknown.executionId], ["not_found", undefined]);
      assert.match(unknown.message, /There is no agent or workflow 'missing'/);
      const missing = await failure(client.get("exe_00000000000000000000000000"));
      assert.deepEqual([missing.code, missing.executionId], ["not_found", "exe_00000000000000000000000000"]);
      const denied = await failure(createClient({ baseUrl: url, apiKey: `${apiKey}0` }).run("echo", {}));
      assert.equal(denied.code, "unauthenticated");
      const none = await failure(createClient({ baseUrl: url }).get("exe_1"));
      assert.equal(none.code, "unauthenticated");
      const bad = await failure(Array.fromAsync(client.logs({ after: "no cursor" })));
      assert.equal(bad.code, "invalid_argument");
    },
  },
  {
    name: "reports a service that cannot be reached",
    async run() {
      const client = createClient({ baseUrl: "http://127.0.0.1:9", apiKey: "x", retry: { attempts: 1 } });
      for (const call of [
        () => client.run("echo", {}),
        () => client.trigger("hook"),
        () => client.trigger("http://127.0.0.1:9/x"),
      ]) {
        const error = await failure(call());
        assert.deepEqual([error.code, error.reason], ["unavailable", "UNREACHABLE"]);
      }
    },
  },
  {
    name: "stops waiting, and cancels",
    async run(client) {
      const expired = await failure(client.run("slow", {}, { waitSeconds: 0.2 }));
      assert.deepEqual([expired.code, expired.reason], ["deadline_exceeded", "WAIT_EXPIRED"]);
      const executionId = expired.executionId ?? "";
      assert.match((await client.get(executionId)).status, /^(queued|running)$/);
      const waiting = client.wait(executionId);
      await client.cancel(executionId);
      assert.equal((await waiting).status, "cancelled");
      const running = client.run("slow", {});
      await client.cancel(await openExecution(client, "slow"));
      const cancelled = await failure(running);
      assert.deepEqual([cancelled.code, cancelled.reason], ["canceled", "EXECUTION_CANCELLED"]);
    },
  },
  {
    name: "ends calls and streams with the reason of the signal",
    async run(client) {
      const reason = new Error("enough");
      const aborted = AbortSignal.abort(reason);
      const { executionId } = await client.start("slow", {});
      const controller = new AbortController();
      const waiting = client.wait(executionId, { signal: controller.signal });
      for await (const _ of client.watch(executionId)) break;
      controller.abort(reason);
      const calls = [
        waiting,
        client.get(executionId, { signal: aborted }),
        client.run("echo", {}, { signal: aborted }),
        client.trigger("hook", {}, { signal: aborted }),
        Array.fromAsync(client.list({ signal: aborted })),
        Array.fromAsync(client.logs({ signal: aborted })),
      ].map((call: Promise<unknown>) => call.catch((error: unknown) => error));
      for (const error of await Promise.all(calls)) assert.equal(error, reason);
      await client.cancel(executionId);
    },
  },
  {
    name: "starts, gets and replays executions as plain objects",
    async run(client) {
      const started = await client.start("echo", { a: 1 }, { kind: "agent" });
      assert.equal(started.status, "queued");
      assert.ok(started.createdAt instanceof Date && Date.now() - started.createdAt.getTime() < 60_000);
      const ended = await client.wait(started.executionId);
      assert.deepEqual([ended.status, ended.input, ended.output], ["succeeded", { a: 1 }, { a: 1 }]);
      const replayed = await client.replay(started.executionId, { input: { b: 2 } });
      assert.equal(replayed.replayOf, started.executionId);
      assert.deepEqual((await client.wait(replayed.executionId)).output, { b: 2 });
      const read = await client.get(replayed.executionId);
      assert.deepEqual(read.attempts, []);
      assert.equal("$typeName" in read, false);
    },
  },
  {
    name: "lists executions over several pages",
    async run(client) {
      const since = new Date();
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) ids.unshift((await client.start("prints")).executionId);
      const all = await Array.fromAsync(client.list({ name: "prints", since, pageSize: 2 }));
      assert.deepEqual(
        all.map(({ executionId }) => executionId),
        ids,
      );
      assert.equal((await Array.fromAsync(take(client.list({ pageSize: 1 }), 3))).length, 3);
      for (const id of ids) await client.wait(id);
    },
  },
  {
    name: "watches states and log entries",
    async run(client) {
      const { executionId } = await client.start("prints");
      const events = await Array.fromAsync(client.watch(executionId));
      const states = events.flatMap((event) => (event.type === "execution" ? [event.execution.status] : []));
      assert.equal(states.at(-1), "succeeded");
      const entries = events.flatMap((event) => (event.type === "log" ? [event.log] : []));
      const lines = entries.filter(({ source }) => source === "console");
      assert.deepEqual(
        lines.map(({ message }) => message),
        ["line 0", "line 1", "line 2", "line 3", "line 4"],
      );
      const after = lines[2]?.cursor;
      const rest = await Array.fromAsync(client.watch(executionId, { after }));
      assert.deepEqual(
        rest.flatMap((event) =>
          event.type === "log" && event.log.source === "console" ? [event.log.message] : [],
        ),
        ["line 3", "line 4"],
      );
    },
  },
  {
    name: "reads and follows logs",
    async run(client) {
      const { executionId } = await client.start("prints");
      await client.wait(executionId);
      const lines = await Array.fromAsync(client.logs({ executionId }));
      assert.equal(lines.filter(({ source }) => source === "console").length, 5);
      assert.equal((await Array.fromAsync(client.logs({ executionId, lines: 2 }))).length, 2);
      assert.ok(lines[0]?.time instanceof Date);
      const { executionId: later } = await client.start("echo", {});
      // With earlier entries, because the execution may end before the stream starts.
      for await (const line of client.logs({ name: "echo", follow: true, lines: 1000 })) {
        if (line.executionId === later) break;
      }
    },
  },
  {
    name: "triggers webhooks by URL and by slug",
    async run(client, { hookUrl, url }) {
      const open = createClient({ baseUrl: url });
      const queued = await open.trigger(hookUrl, { n: 1 });
      assert.equal(queued.status, "queued");
      assert.deepEqual((await client.wait(queued.executionId)).output, { n: 1 });
      const result = await client.trigger("hook", { n: 2 }, { waitSeconds: 30 });
      assert.deepEqual([result.status, result.output, result.replayed], ["succeeded", { n: 2 }, false]);
      const idempotencyKey = `key-${result.executionId}`;
      const first = await client.trigger(hookUrl, { n: 3 }, { idempotencyKey, waitSeconds: 30 });
      const again = await client.trigger(hookUrl, { n: 3 }, { idempotencyKey });
      assert.deepEqual([again.executionId, again.replayed], [first.executionId, true]);
      const failed = await failure(client.trigger(hookUrl, { fail: true }, { waitSeconds: 30 }));
      assert.equal(failed.reason, "EXECUTION_FAILED");
      assert.match(failed.message, /TypeError: no title/);
      assert.match(failed.executionId ?? "", /^exe_/);
      assert.equal((await failure(client.trigger(`${hookUrl}-unknown`, {}))).code, "not_found");
      assert.equal((await failure(client.trigger("unknown", {}))).code, "not_found");
    },
  },
  {
    name: "returns the responses that webhooks set",
    async run(client) {
      for (const body of ["text", [1], null, { a: { b: 1 } }, { execution_id: "order-7", total: 3 }]) {
        const result = await client.trigger("custom", { body });
        assert.deepEqual([result.response, result.executionId], [body ?? "text", ""]);
      }
      const refused = await failure(client.trigger("custom", { status: 409, body: { code: 7 } }));
      assert.equal(refused.message, "The server answered HTTP 409.");
      const own = { status: 500, body: { execution_id: "order-7" } };
      assert.equal((await failure(client.trigger("custom", own))).executionId, undefined);
      const waited = await client.trigger("custom", {}, { waitSeconds: 30 });
      assert.deepEqual([waited.status, waited.output, waited.response], ["succeeded", null, undefined]);
    },
  },
  {
    name: "has raw clients of the services",
    async run(client) {
      const { executions } = await client.service(ExecutionService).listExecutions({ pageSize: 1 });
      assert.equal(executions.length, 1);
    },
  },
];

/** The id of a queued or running execution, once there is one. */
async function openExecution(client: Client, name: string): Promise<string> {
  for (;;) {
    for await (const { executionId, status } of client.list({ name })) {
      if (status === "queued" || status === "running") return executionId;
    }
  }
}

/** The error of a call that must fail. */
async function failure(call: Promise<unknown>): Promise<SvcError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!isSvcError(error))
    throw new Error(`Expected an error of the client, not ${String(error)}.`, { cause: error });
  return error;
}

async function* take<T>(items: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  let left = count;
  for await (const item of items) {
    yield item;
    if (--left === 0) return;
  }
}
