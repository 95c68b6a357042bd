/** The metrics: their format, their values after known requests, and who may read them. */
import { describe, expect, test, vi } from "vitest";
import { observed, recorded } from "../../../server/telemetry/metrics/definitions.ts";
import { Counter, Histogram, render } from "../../../server/telemetry/metrics/registry.ts";
import { type ExpositionMetric, parseExposition } from "../../support/exposition.ts";
import { deploy } from "../../support/project.ts";
import { call, ok, runToEnd } from "../../support/rest.ts";
import type { TestServer } from "../../support/server.ts";
import type { ExecutionJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

const token = "a-token-of-the-operator";
const env = { SVC_METRICS_PORT: "0", SVC_METRICS_TOKEN: token, SVC_LOG: "text" };
const definitions = { ...recorded, ...observed };

async function scrape(url: string, headers = {}): Promise<Map<string, ExpositionMetric>> {
  const response = await fetch(url, { headers });
  const type = response.headers.get("content-type");
  expect([response.status, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  return parseExposition(await response.text());
}

/** The value of a sample; 0 when the metric has none with these labels. */
function readValue(
  metrics: Map<string, ExpositionMetric>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const family = metrics.get(name) ?? metrics.get(name.replace(/_(?:bucket|sum|count)$/, ""));
  const found = family?.samples.find(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  return found?.value ?? 0;
}

const portOf = (server: TestServer) => /Metrics on (\S+)/.exec(server.output)?.[1] ?? "";

onRuntime("deno", "metrics", { env }, (server) => {
  test("are in the format of Prometheus, and are the defined ones", async () => {
    const metrics = await scrape(portOf(server));
    const names = Object.values(definitions).map(({ name }) => name);
    // Bun and Deno have descriptors on Linux too.
    expect([...metrics.keys()].toSorted()).toEqual(names.toSorted());
    for (const { name, type, help } of Object.values(definitions)) {
      expect(metrics.get(name)).toMatchObject({ type, help });
    }
    expect(readValue(metrics, "svc_store_up")).toBe(1);
    expect(readValue(metrics, "process_resident_memory_bytes")).toBeGreaterThan(2 ** 24);
    expect(readValue(metrics, "process_cpu_seconds_total")).toBeGreaterThan(0);
    expect(readValue(metrics, "process_start_time_seconds")).toBeGreaterThan(1.7e9);
    expect(readValue(metrics, "svc_build_info", { role: "all" })).toBe(1);
  });

  test("count webhooks, executions, attempts, runners and commits", async () => {
    const { webhooks } = await deploy(server, {
      agents: {
        hook: { code: "export default () => null;", webhooks: [{ slug: "in" }] },
        fails: { code: "export default () => { throw new Error('no'); };" },
      },
    });
    const url = webhooks[0]?.url ?? "";
    const headers = { prefer: "wait=30", "idempotency-key": "same" };
    for (let i = 0; i < 2; i++) await call(server, "POST", url, { json: {}, headers, key: null });
    expect((await call(server, "POST", url, { body: "no json", key: null })).status).toBe(400);
    expect((await call(server, "POST", `${url}-unknown`, { json: {}, key: null })).status).toBe(404);
    expect((await runToEnd(server, "fails")).status).toBe("failed");
    const metrics = await scrape(`${server.url}/metrics`, { authorization: `Bearer ${token}` });
    const value = (name: string, labels = {}) => readValue(metrics, name, labels);
    expect(value("svc_webhook_requests_total", { outcome: "accepted" })).toBe(1);
    expect(value("svc_webhook_requests_total", { outcome: "duplicate" })).toBe(1);
    expect(value("svc_webhook_requests_total", { outcome: "rejected", reason: "INVALID_JSON" })).toBe(1);
    expect(value("svc_webhook_requests_total", { outcome: "rejected", reason: "WEBHOOK_NOT_FOUND" })).toBe(1);
    expect(value("svc_http_requests_total", { handler: "webhook", method: "POST", code: "200" })).toBe(2);
    expect(value("svc_http_requests_total", { handler: "webhook", method: "POST", code: "404" })).toBe(1);
    expect(value("svc_http_requests_total", { handler: "RunExecution", code: "200" })).toBe(1);
    expect(value("svc_http_request_duration_seconds_count", { handler: "webhook" })).toBe(4);
    expect(value("svc_executions_finished_total", { status: "succeeded", trigger: "webhook" })).toBe(1);
    expect(value("svc_executions_finished_total", { status: "failed", trigger: "run" })).toBe(1);
    expect(value("svc_execution_attempts_total", { outcome: "thrown", kind: "agent" })).toBe(1);
    expect(value("svc_execution_duration_seconds_count", { kind: "agent" })).toBe(2);
    expect(value("svc_execution_queue_wait_seconds_count")).toBe(2);
    expect(value("svc_runner_starts_total", { outcome: "started" })).toBeGreaterThan(0);
    expect(value("svc_store_commit_duration_seconds_count")).toBeGreaterThan(2);
    // With S3, the package is uploaded past the server.
    expect(value("svc_storage_operation_duration_seconds_count", { operation: "sign" })).toBeGreaterThan(0);
    expect(value("svc_http_connections")).toBeGreaterThan(0);
    const [, organization = ""] = /\/(org_\w+)\//.exec(url) ?? [];
    const values = [...metrics.values()].flatMap(({ samples }) =>
      samples.flatMap(({ labels }) => Object.values(labels)),
    );
    const chosen = [organization, "hook", "fails", "in", "test-project", "production"];
    expect(chosen.filter((word) => values.includes(word))).toEqual([]);
  });

  test("count an execution that is cancelled in the queue", async () => {
    const retry = { enable_retry: true, retry_policy: { max_retries: 1, initial_delay: 300 } };
    await deploy(server, { agents: { later: { code: "export default () => { throw 1; };", ...retry } } });
    const json = { name: "later" };
    const { execution_id } = await ok<ExecutionJson>(server, "POST", "/api/v1/executions", { json });
    const path = `/api/v1/executions/${execution_id}`;
    await vi.waitFor(
      async () => expect(await ok(server, "GET", path)).toMatchObject({ status: "queued", attempt: 2 }),
      30_000,
    );
    const count = async () => {
      const metrics = await scrape(portOf(server));
      return readValue(metrics, "svc_executions_finished_total", { status: "cancelled", trigger: "run" });
    };
    expect(await count()).toBe(0);
    await ok(server, "POST", `${path}/cancel`, { json: {} });
    expect(await count()).toBe(1);
  });

  test("need the token or a key with scope full on the port of the server", async () => {
    const get = (key: string | null) => call(server, "GET", "/metrics", { key });
    expect((await get(null)).status).toBe(401);
    expect((await get("wrong")).status).toBe(401);
    expect((await get(server.apiKey)).status).toBe(200);
    const json = { name: "reader", scope: "deploy" };
    const { token: other } = await ok<{ token: string }>(server, "POST", "/api/v1/keys", { json });
    const refused = await get(other);
    expect([refused.status, refused.json.message]).toEqual([
      403,
      "Permission denied: this key needs scope full.",
    ]);
    expect((await fetch(portOf(server).replace("/metrics", "/livez"))).status).toBe(404);
  });
});

describe("the text format", () => {
  const definition = { name: "a_total", type: "counter", help: "a\\b\nc", labels: ["x"] } as const;

  test("escapes labels and help", () => {
    const counter = new Counter(definition);
    counter.add('"\\\n');
    const metric = parseExposition(render([counter], [])).get("a_total");
    expect(metric?.samples).toEqual([{ name: "a_total", labels: { x: '"\\\n' }, value: 1 }]);
    expect(metric?.help).toBe("a\\\\b\\nc");
  });

  test("has cumulative buckets that include their bounds", () => {
    const histogram = new Histogram({
      name: "h_seconds",
      type: "histogram",
      help: "h",
      labels: [],
      buckets: [0.1, 1],
    });
    for (const value of [-1, 0.1, 0.5, 7]) histogram.observe(value);
    const samples = parseExposition(render([histogram], [])).get("h_seconds")?.samples;
    expect(samples?.map(({ labels, value }) => [labels.le, value])).toEqual([
      ["0.1", 2],
      ["1", 3],
      ["+Inf", 4],
      [undefined, 7.6],
      [undefined, 4],
    ]);
  });

  test("does not grow without a limit", () => {
    const counter = new Counter(definition);
    for (let i = 0; i < 5000; i++) counter.add(`user-made ${i}`);
    expect(counter.lines()).toHaveLength(1000);
  });
});
