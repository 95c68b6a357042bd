import { beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../../support/project.ts";
import { call, ended, expectError, ok, run, runToEnd, watched } from "../../support/rest.ts";
import type { ExecutionJson, ExecutionPage } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

const agents = {
  echo: "export default (input) => input;",
  context: `export default (_, ctx) => {
  const { executionId, attempt, trigger, deploymentId, organizationId, environment, secrets } = ctx;
  return { executionId, attempt, trigger, deploymentId, organizationId, environment, secrets, aborted: ctx.signal.aborted };
};`,
  defined: `import { defineAgent } from "svc";
export default defineAgent(async (input: { a: number }) => ({ twice: input.a * 2 }));`,
  throws: `
function deeper() {
  throw new TypeError("the reason");
}
export default () => deeper();`,
  "throws-text": "export default () => { throw 'just text'; };",
  "throws-nothing": "export default () => { throw undefined; };",
  rejects: "export default () => Promise.reject(new SyntaxError('later'));",
  exits: "export default ({ code }) => process.exit(code);",
  "exits-late": "export default () => new Promise(() => setTimeout(() => process.exit(0), 20));",
  kills: "export default () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}); };",
  bigint: "export default () => 10n;",
  cycle: "export default () => { const a = {}; a.self = a; return a; };",
  function: "export default () => () => 1;",
  symbol: "export default () => Symbol('x');",
  nan: "export default () => ({ a: NaN });",
  "to-json": "export default () => ({ toJSON() { throw new Error('not me'); } });",
  nothing: "export default () => undefined;",
  date: "export default () => ({ at: new Date(0), gone: undefined, list: [undefined, null] });",
  spins: { code: "export default () => { for (;;); };", timeout: 0.5 },
  hangs: { code: "export default () => new Promise(() => {});", timeout: 0.3 },
  polite: {
    code: `export default (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("too late")));`,
    timeout: 0.3,
  },
  environment: "export default () => process.env;",
  chatty: `export default (_, ctx) => {
  console.debug("one");
  console.log("two %s", "formatted", { a: [1] });
  console.warn("three");
  console.error("four\\nfive");
  ctx.log.info("six");
};`,
  "rejects-aside": `export default async () => {
  Promise.reject(new Error("not handled"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  return "fine";
};`,
};

/** Variables of the server's environment that no agent may read. */
const env = { SVC_CANARY: "canary-of-the-server" };

onRuntime("deno", "executions", { env }, (server) => {
  let deploymentId = "";
  beforeAll(async () => {
    ({ deployment_id: deploymentId } = await deploy(server, { agents }));
  });

  const page = (query: string) => ok<ExecutionPage>(server, "GET", `/api/v1/executions?${query}`);

  describe("an execution", () => {
    test("has a complete record", async () => {
      const input = { text: "ä", list: [1, { deep: null }] };
      const queued = await run(server, "echo", input);
      expect(queued).toMatchObject({ status: "queued", kind: "agent", name: "echo", trigger: "run", input });
      const execution = await ended(server, queued.execution_id);
      expect(execution).toMatchObject({
        ...queued,
        status: "succeeded",
        output: input,
        deployment_id: deploymentId,
        environment: "production",
        attempt: 1,
        unmapped: [],
      });
      const [created = 0, started = 0, finished = 0] = [
        execution.created_at,
        execution.started_at,
        execution.finished_at,
      ].map((time) => Date.parse(time ?? ""));
      expect(created <= started && started <= finished).toBe(true);
      expect(execution.error).toBeUndefined();
    });

    test("has the input {} by default, and can import types from 'svc'", async () => {
      const { execution_id } = await ok<ExecutionJson>(server, "POST", "/api/v1/executions", {
        json: { name: "echo" },
      });
      expect(await ended(server, execution_id)).toMatchObject({ input: {}, output: {} });
      expect((await runToEnd(server, "defined", { a: 21 })).output).toEqual({ twice: 42 });
    });

    test("has a context", async () => {
      const { execution_id, output } = await runToEnd(server, "context");
      expect(output).toEqual({
        executionId: execution_id,
        attempt: 1,
        trigger: "run",
        deploymentId,
        organizationId: expect.stringMatching(/^org_/),
        environment: "production",
        secrets: {},
        aborted: false,
      });
    });

    test("has an output that is serialized as JSON", async () => {
      expect((await runToEnd(server, "nothing")).output).toBeNull();
      expect((await runToEnd(server, "date")).output).toEqual({
        at: "1970-01-01T00:00:00.000Z",
        list: [null, null],
      });
    });

    test.each(["bigint", "cycle", "function", "symbol", "to-json"])(
      "%s fails: JSON cannot hold it",
      async (name) => {
        const execution = await runToEnd(server, name);
        expect(execution.status).toBe("failed");
        expect(execution.output).toBeUndefined();
        expect(execution.error?.message).not.toBe("");
      },
    );
  });

  describe("a failed execution", () => {
    test("has an error with name, message and location in the project", async () => {
      const { status, error } = await runToEnd(server, "throws");
      expect(status).toBe("failed");
      expect(error).toMatchObject({ name: "TypeError", message: "the reason" });
      expect(error?.stack).toContain("agents/throws.ts:3");
      expect(error?.stack).not.toContain(server.dataDir);
    });

    test("may have thrown a value that is not an error", async () => {
      expect((await runToEnd(server, "throws-text")).error?.message).toContain("just text");
      expect((await runToEnd(server, "throws-nothing")).error?.message).toContain("undefined");
      expect((await runToEnd(server, "rejects")).error).toMatchObject({
        name: "SyntaxError",
        message: "later",
      });
    });

    test.each([
      ["exits", { code: 0 }],
      ["exits", { code: 3 }],
      ["exits-late", {}],
      ["kills", {}],
    ])("%s %j ends its own execution as failed, at the first attempt", async (name, input) => {
      const execution = await runToEnd(server, name, input);
      expect(execution).toMatchObject({ status: "failed", attempt: 1 });
      expect(execution.error?.message).not.toBe("");
    });

    test("does not affect other executions in the same runner", async () => {
      const echo = (number: number) => run(server, "echo", { number });
      const culprits = ["exits", "spins", "throws", "hangs", "polite", "cycle", "kills"];
      const queued = [
        ...Array.from({ length: 10 }, (_, number) => echo(number)),
        ...culprits.map((name) => run(server, name, { code: 1 })),
        ...Array.from({ length: 10 }, (_, number) => echo(number + 10)),
      ];
      const fates = await Promise.all(queued.map(async (one) => ended(server, (await one).execution_id)));
      const failed = fates.filter(({ status }) => status === "failed");
      expect(failed.map(({ name }) => name)).toEqual(culprits);
      for (const { name, error } of failed) {
        if (["spins", "hangs", "polite"].includes(name)) expect(error?.message).toMatch(/0\.[35] s|timeout/);
      }
      expect(fates.flatMap(({ status, output }) => (status === "succeeded" ? [output] : []))).toEqual(
        Array.from({ length: 20 }, (_, number) => ({ number })),
      );
      expect(new Set(fates.map(({ attempt }) => attempt))).toEqual(new Set([1]));
      expect((await ok<{ status: string }>(server, "GET", "/health")).status).toBe("ok");
    });
  });

  test("several executions run concurrently in one runner", async () => {
    // Each waits for the other four. Sequential execution would deadlock.
    const code = `let waiting = [];
export default () => new Promise((resolve) => {
  waiting.push(resolve);
  if (waiting.length === 5) for (const go of waiting) go(process.pid);
});`;
    await deploy(server, { name: "together", agents: { meet: { code, timeout: 10 } } });
    const queued = await Promise.all(Array.from({ length: 5 }, () => run(server, "meet")));
    const outputs = (await Promise.all(queued.map(({ execution_id }) => ended(server, execution_id)))).map(
      ({ output }) => output,
    );
    expect(outputs).toEqual(Array.from({ length: 5 }, () => outputs[0]));
    expect(outputs[0]).not.toBe(server.pid);
  });

  test("users' code cannot read the server's environment", async () => {
    const { output } = await runToEnd(server, "environment");
    const text = JSON.stringify(output);
    expect(text).not.toContain("canary-of-the-server");
    expect(text).not.toContain(server.apiKey);
    expect(Object.keys(output as object).filter((name) => name.startsWith("SVC_"))).toEqual([]);
  });

  describe("the log", () => {
    const logged = async (name: string) => {
      const { execution_id } = await run(server, name);
      return (await watched(server, execution_id)).flatMap(({ log }) => log ?? []);
    };

    test("contains the output of the code in order, with levels", async () => {
      const lines = await logged("chatty");
      expect(lines.map(({ level, message }) => [level, message])).toEqual([
        ["debug", "one"],
        ["info", expect.stringMatching(/^two formatted \{ ?a: \[ ?1 ?\] ?\}$/)],
        ["warn", "three"],
        ["error", expect.stringContaining("four")],
        ["info", "six"],
      ]);
      expect(new Set(lines.map(({ source, name }) => `${source} ${name}`))).toEqual(
        new Set(["console chatty"]),
      );
    });

    test("contains an unhandled rejection, which does not fail the execution", async () => {
      const { execution_id } = await run(server, "rejects-aside");
      const events = await watched(server, execution_id);
      // The state comes first when the execution has ended before the stream begins.
      const state = events.flatMap(({ execution }) => execution ?? []).at(-1);
      expect(state).toMatchObject({ status: "succeeded", output: "fine" });
      const text = events.map(({ log }) => log?.message ?? "").join("\n");
      expect(text).toContain("not handled");
    });

    test("contains the reason of a failure and that there is no retry", async () => {
      const lines = await logged("throws");
      expect(lines).toMatchObject([
        {
          level: "error",
          source: "execution",
          message: "Attempt 1 failed: TypeError: the reason. There is no retry.",
        },
      ]);
    });
  });

  describe("a request to run an execution is rejected", () => {
    test("for an unknown name, kind or environment", async () => {
      const tries: [json: object, message: RegExp][] = [
        [{ name: "missing" }, /no agent or workflow 'missing' in production/],
        [{ name: "echo", kind: "workflow" }, /no workflow 'echo'/],
        [{ name: "echo", environment: "staging" }, /in staging/],
        [{ name: "toString" }, /no agent or workflow 'toString'/],
      ];
      for (const [json, message] of tries) {
        expectError(await call(server, "POST", "/api/v1/executions", { json }), 404, "not_found", message);
      }
    });
  });

  test("the list is filtered and paginated, newest first", async () => {
    const since = new Date().toISOString();
    const made: string[] = [];
    for (let number = 0; number < 5; number++)
      made.push((await run(server, "echo", { number })).execution_id);
    const failed = await runToEnd(server, "throws");
    await Promise.all(made.map((id) => ended(server, id)));
    const newest = [failed.execution_id, ...made.toReversed()];
    const ids = async (query: string) =>
      (await page(query)).executions.map(({ execution_id }) => execution_id);
    const recent = `since=${encodeURIComponent(since)}`;
    expect(await ids(recent)).toEqual(newest);
    expect(await ids(`${recent}&status=succeeded`)).toEqual(newest.slice(1));
    expect(await ids(`${recent}&status=failed&kind=agent`)).toEqual(newest.slice(0, 1));
    expect(await ids(`${recent}&name=echo`)).toEqual(newest.slice(1));
    expect(await ids(`${recent}&kind=workflow`)).toEqual([]);
    expect(await ids(`${recent}&environment=staging`)).toEqual([]);
    const seen: string[] = [];
    for (let token = ""; ; ) {
      const one = await page(`${recent}&page_size=4&page_token=${token}`);
      seen.push(...one.executions.map(({ execution_id }) => execution_id));
      token = one.next_page_token;
      if (token === "") break;
    }
    expect(seen).toEqual(newest);
  });
});
