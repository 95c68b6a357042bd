import { beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../../support/project.ts";
import { ended, ok, run, runToEnd, watched } from "../../support/rest.ts";
import type { ExecutionJson, ExecutionPage } from "../../support/shapes.ts";
import { onRuntime, sharedStores } from "../../support/suite.ts";

const fixed = (max_retries: number) => ({
  enable_retry: true,
  retry_policy: { strategy: "fixed", initial_delay: 0.01, max_retries },
});

const agents = {
  double: "export default ({ n }) => n * 2;",
  breaks: "export default () => { throw new RangeError('broken child'); };",
  flaky: {
    code: `export default ({ until }, { attempt }) => {
  if (attempt < until) throw new Error("attempt " + attempt);
  return attempt;
};`,
    ...fixed(3),
  },
  once: "export default ({ until }, { attempt }) => { if (attempt < until) throw new Error('once'); return attempt; };",
  final: {
    code: "import { FinalError } from 'svc';\nexport default () => { throw new FinalError('for good'); };",
    ...fixed(3),
  },
  dies: {
    code: "export default (_, { attempt }) => (attempt < 2 ? process.exit(1) : attempt);",
    ...fixed(3),
  },
};

const workflows = {
  sums: `export default async ({ numbers }, ctx) => {
  const doubled = await Promise.all(numbers.map((n) => ctx.run("double", { n })));
  return doubled.reduce((a, b) => a + b, 0);
};`,
  catches: `export default async (_, ctx) => {
  try {
    await ctx.run("breaks");
  } catch (error) {
    return { name: error.name, message: error.message, id: error.executionId, cause: error.cause?.name ?? null };
  }
};`,
  passes: "export default (_, ctx) => ctx.run('breaks');",
  unknown: "export default (_, ctx) => ctx.run('missing');",
  dives: `export default async ({ levels }, ctx) =>
  levels === 0 ? "bottom" : await ctx.run("dives", { levels: levels - 1 });`,
  resumes: {
    code: `export default async (_, ctx) => {
  const keyed = await ctx.run("double", { n: 1 }, { key: "a" });
  const counted = await ctx.run("double", { n: 2 });
  if (ctx.attempt < 3) throw new Error("again");
  return [keyed, counted];
};`,
    ...fixed(3),
  },
  confuses: {
    code: `export default async (_, ctx) => {
  await ctx.run(ctx.attempt === 1 ? "double" : "once", { n: 1 }, { key: "same" });
  throw new Error("again");
};`,
    ...fixed(1),
  },
  idle: "export default async (_, ctx) => { ctx.run('double', { n: 1 }).catch(() => {}); return 'gone'; };",
};

/** So few slots that a workflow that kept its slot while it waits would deadlock. */
const env = { SVC_CONCURRENCY: "2", SVC_EXECUTIONS_PER_RUNNER: "2", SVC_RUNNERS_PER_DEPLOYMENT: "1" };

onRuntime("bun", "workflows", { env, ...sharedStores }, (server) => {
  beforeAll(async () => {
    await deploy(server, { agents, workflows });
  });

  const childrenOf = async (id: string) => {
    const { executions } = await ok<ExecutionPage>(server, "GET", "/api/v1/executions?page_size=1000");
    return executions.filter(({ parent_execution_id }) => parent_execution_id === id);
  };

  describe("child executions", () => {
    test("run concurrently as executions of their own, and return their output", async () => {
      const { execution_id, output, kind } = await runToEnd(server, "sums", { numbers: [1, 2, 3, 4, 5] });
      expect([kind, output]).toEqual(["workflow", 30]);
      const children = await childrenOf(execution_id);
      expect(children.length).toBe(5);
      for (const child of children) {
        expect(child).toMatchObject({ trigger: "child", name: "double", status: "succeeded" });
      }
    });

    test("throw their error in the parent, which may catch it", async () => {
      const { execution_id, output } = await runToEnd(server, "catches");
      const [child] = await childrenOf(execution_id);
      expect(output).toMatchObject({ name: "ExecutionError", id: child?.execution_id });
      expect((output as { message: string }).message).toContain("broken child");
      expect(child?.error).toMatchObject({ name: "RangeError", message: "broken child" });
    });

    test("fail the parent when it does not catch their error", async () => {
      const { status, error } = await runToEnd(server, "passes");
      expect([status, error?.name]).toEqual(["failed", "ExecutionError"]);
      expect(error?.message).toContain("broken child");
    });

    test("of an unknown name are rejected", async () => {
      const { status, error } = await runToEnd(server, "unknown");
      expect(status).toBe("failed");
      expect(error?.message).toContain("no agent or workflow of that name");
    });

    test("nest up to 100 levels with two slots", async () => {
      expect(await runToEnd(server, "dives", { levels: 100 })).toMatchObject({ output: "bottom" });
      const { status, error } = await runToEnd(server, "dives", { levels: 101 });
      expect(status).toBe("failed");
      expect(error?.message).toContain("at most 100 levels");
    });

    test("are not run again by a later attempt of the parent", async () => {
      const { execution_id, output, attempt } = await runToEnd(server, "resumes");
      expect([attempt, output]).toEqual([3, [2, 4]]);
      expect((await childrenOf(execution_id)).length).toBe(2);
    });

    test("of another name under the same key are rejected", async () => {
      const { status, error } = await runToEnd(server, "confuses");
      expect(status).toBe("failed");
      expect(error?.message).toMatch(/an earlier attempt ran 'double' at this position/);
    });

    test("run to completion when the parent does not wait for them", async () => {
      const { execution_id, output } = await runToEnd(server, "idle");
      expect(output).toBe("gone");
      for (const child of await childrenOf(execution_id)) {
        expect((await ended(server, child.execution_id)).status).toBe("succeeded");
      }
    });
  });

  describe("retries", () => {
    test("continue until an attempt succeeds", async () => {
      const { execution_id } = await run(server, "flaky", { until: 3 });
      const events = await watched(server, execution_id);
      expect(events.at(-1)?.execution).toMatchObject({ status: "succeeded", attempt: 3, output: 3 });
      const lines = events.flatMap(({ log }) => (log?.source === "execution" ? [log.message] : []));
      expect(lines).toEqual([
        "Attempt 1 failed: Error: attempt 1. The next attempt is due in 0.0 s.",
        "Attempt 2 failed: Error: attempt 2. The next attempt is due in 0.0 s.",
      ]);
    });

    test("keep the start of the first attempt, and the start of each", async () => {
      const { execution_id } = await runToEnd(server, "flaky", { until: 3 });
      const shown = await ok<ExecutionJson & { attempts: { started_at: string; finished_at: string }[] }>(
        server,
        "GET",
        `/api/v1/executions/${execution_id}`,
      );
      const [first, second] = shown.attempts;
      expect(shown.attempts.length).toBe(2);
      expect(shown.started_at).toBe(first?.started_at);
      const times = [first?.started_at, first?.finished_at, second?.started_at, second?.finished_at];
      const sorted = [...times, shown.finished_at].map((time) => Date.parse(time ?? ""));
      expect(sorted).toEqual(sorted.toSorted((a, b) => a - b));
    });

    test("end after max_retries with the error of the last attempt", async () => {
      const { status, attempt, error } = await runToEnd(server, "flaky", { until: 99 });
      expect([status, attempt, error?.message]).toEqual(["failed", 4, "attempt 4"]);
    });

    test("are off by default, and never follow a final error", async () => {
      expect(await runToEnd(server, "once", { until: 2 })).toMatchObject({ status: "failed", attempt: 1 });
      expect(await runToEnd(server, "final")).toMatchObject({
        status: "failed",
        attempt: 1,
        error: { name: "FinalError", message: "for good" },
      });
    });

    test("follow an attempt that ended its runner", async () => {
      expect(await runToEnd(server, "dies")).toMatchObject({ status: "succeeded", attempt: 2, output: 2 });
    });
  });
});
