/** The counters per minute and hour, over REST. */
import { expect, test, vi } from "vitest";
import { deploy } from "../support/project.ts";
import { call, ended, ok } from "../support/rest.ts";
import type { ExecutionJson } from "../support/shapes.ts";
import { onRuntime } from "../support/suite.ts";

interface Point {
  at: string;
  accepted: string;
  rejected: string;
  succeeded: string;
  failed: string;
  cancelled: string;
  p50?: string;
}

onRuntime("node", "statistics", {}, (server) => {
  test("count requests and ended executions per minute and hour", async () => {
    const { webhooks } = await deploy(server, {
      agents: {
        work: {
          code: "export default (input) => { if (input.fail) throw new Error('no'); return 1; };",
          webhooks: [{ slug: "hook" }],
        },
      },
    });
    const url = webhooks[0]?.url ?? "";
    expect((await call(server, "POST", url, { json: {}, key: null })).status).toBe(202);
    expect((await call(server, "POST", url, { json: {}, key: null })).status).toBe(202);
    expect((await call(server, "POST", url, { body: "[", key: null })).status).toBe(400);
    const { deliveries } = await ok<{ deliveries: { delivery_id: string }[] }>(
      server,
      "GET",
      "/api/v1/webhooks/deliveries?outcome=accepted",
    );
    const redelivered = await ok<ExecutionJson>(
      server,
      "POST",
      `/api/v1/webhooks/deliveries/${deliveries[0]?.delivery_id}/redeliver`,
      { json: {} },
    );
    await ended(server, redelivered.execution_id);
    const json = { name: "work", input: { fail: true } };
    const { execution_id } = await ok<ExecutionJson>(server, "POST", "/api/v1/executions", { json });
    await ended(server, execution_id);
    const read = (path: string) => ok<{ points: Point[]; total: Point; queued: number }>(server, "GET", path);
    for (const [period, length] of [
      ["1h", 60],
      ["24h", 288],
      ["7d", 168],
    ] as const) {
      await vi.waitFor(async () => {
        const { points, total, queued } = await read(`/api/v1/statistics?period=${period}`);
        expect(points).toHaveLength(length);
        expect(total).toMatchObject({
          accepted: "2",
          rejected: "1",
          succeeded: "3",
          failed: "1",
          cancelled: "0",
        });
        const counted = points.reduce((sum, point) => sum + Number(point.succeeded), 0);
        expect(counted).toBe(3);
        expect(total.p50).toMatch(/^[\d.]+s$/);
        expect(queued).toBe(0);
      }, 30_000);
    }
    const staging = await read("/api/v1/statistics?environment=staging");
    expect(staging.total).toMatchObject({ accepted: "0", succeeded: "0" });
    const wrong = await call(server, "GET", "/api/v1/statistics?period=1y");
    expect(wrong.status).toBe(400);
  });
});
