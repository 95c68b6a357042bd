/** `on_failure` with an agent: which failures call it, and that none of its own does. */
import { expect, test, vi } from "vitest";
import { run as statement } from "../../server/store/engine.ts";
import { maxAlerts, takeAlerts } from "../../server/store/tables/alerts.ts";
import { deploy } from "../support/project.ts";
import { ended, ok, run, runToEnd } from "../support/rest.ts";
import type { ExecutionJson } from "../support/shapes.ts";
import { onRuntime, sharedStores } from "../support/suite.ts";

const fails = "export default () => { throw new RangeError('too small'); };";

onRuntime("bun", "an agent for failures", sharedStores, (server) => {
  const reports = async (): Promise<ExecutionJson[]> => {
    const { executions } = await ok<{ executions: ExecutionJson[] }>(
      server,
      "GET",
      "/api/v1/executions?view=full&page_size=1000",
    );
    return executions.filter(({ trigger }) => trigger === "failure");
  };

  test("runs with the failure as its input, and its own failure calls nothing", async () => {
    await deploy(server, {
      name: "loop",
      agents: {
        fails,
        notify: { code: fails, enable_retry: true, retry_policy: { max_retries: 1, initial_delay: 0 } },
      },
      on_failure: "notify",
    });
    const failed = await runToEnd(server, "fails", { a: 1 });
    const [report, ...others] = await reports();
    expect(others).toEqual([]);
    expect(report).toMatchObject({
      kind: "agent",
      name: "notify",
      deployment_id: failed.deployment_id,
      input: {
        type: "execution.failed",
        data: { execution_id: failed.execution_id, error: { name: "RangeError", message: "too small" } },
      },
    });
    expect(await ended(server, report?.execution_id ?? "")).toMatchObject({ status: "failed", attempt: 2 });
    // Also when a person runs it, or replays what it did.
    await runToEnd(server, "notify");
    const path = `/api/v1/executions/${report?.execution_id}/replay`;
    const replayed = await ok<ExecutionJson>(server, "POST", path, { json: {} });
    await ended(server, replayed.execution_id);
    expect(await reports()).toHaveLength(1);
    // All failures but that of the alert count.
    await vi.waitFor(async () => {
      const path = "/api/v1/statistics?period=1h";
      const { total } = await ok<{ total: { failed: string } }>(server, "GET", path);
      expect(total.failed).toBe("3");
    }, 30_000);
  });

  test("is not called for cancelled and child executions, nor for a target with on_failure: false", async () => {
    await deploy(server, {
      name: "loop",
      version: "2",
      agents: {
        fails,
        waits:
          "export default (input, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject));",
        quiet: { code: fails, on_failure: false },
        notify: "export default (input) => input.data.name;",
      },
      workflows: {
        handles: "export default async (input, ctx) => { try { await ctx.run('fails', {}); } catch {} };",
        breaks: "export default async (input, ctx) => { await ctx.run('fails', {}); };",
      },
      on_failure: "notify",
    });
    const before = (await reports()).length;
    await runToEnd(server, "quiet");
    await runToEnd(server, "handles");
    const waiting = await run(server, "waits");
    await ok(server, "POST", `/api/v1/executions/${waiting.execution_id}/cancel`, { json: {} });
    expect((await ended(server, waiting.execution_id)).status).toBe("cancelled");
    expect(await reports()).toHaveLength(before);
    await runToEnd(server, "breaks");
    const [report, ...rest] = await reports();
    expect(rest).toHaveLength(before);
    expect((await ended(server, report?.execution_id ?? "")).output).toBe("breaks");
  });

  test("is called ten times in a minute, and the next call tells the number of further failures", async () => {
    await deploy(server, {
      name: "storm",
      agents: { breaks_often: fails, report: "export default (input) => input.data.suppressed;" },
      on_failure: "report",
    });
    await Promise.all(Array.from({ length: maxAlerts + 5 }, () => runToEnd(server, "breaks_often")));
    const sent = (await reports()).filter(({ name }) => name === "report");
    expect(sent.length).toBe(maxAlerts);
    const engine = await server.openStore();
    // The window was opened a minute ago.
    await engine.write(() =>
      statement("UPDATE alert_windows SET started_at = started_at - 60000 WHERE project = 'storm'"),
    );
    await engine.close();
    await runToEnd(server, "breaks_often");
    const [last] = await reports();
    expect((await ended(server, last?.execution_id ?? "")).output).toBe(5);
  });

  test("counts each project and environment for itself", async () => {
    const engine = await server.openStore();
    const take = (project: string, environment: string, wanted: number, now: number) =>
      engine.write(() => takeAlerts({ orgId: "org_x", project, environment }, wanted, now));
    expect(await take("a", "production", 8, 0)).toEqual({ admitted: 8, suppressed: 0 });
    expect(await take("a", "production", 4, 59_999)).toEqual({ admitted: 2, suppressed: 0 });
    expect(await take("a", "production", 3, 59_999)).toEqual({ admitted: 0, suppressed: 0 });
    expect(await take("b", "production", 1, 59_999)).toEqual({ admitted: 1, suppressed: 0 });
    expect(await take("a", "staging", 1, 59_999)).toEqual({ admitted: 1, suppressed: 0 });
    expect(await take("a", "production", 12, 60_000)).toEqual({ admitted: 10, suppressed: 5 });
    expect(await take("a", "production", 1, 120_000)).toEqual({ admitted: 1, suppressed: 2 });
    // The clock was set back.
    expect(await take("a", "production", 10, 60_000)).toEqual({ admitted: 10, suppressed: 0 });
    await engine.close();
  });
});
